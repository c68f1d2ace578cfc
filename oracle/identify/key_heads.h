// Which key head each query head reads.
#pragma once

#include <string>
#include <vector>

#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// The key heads of the query heads, [H], from the question in which all scores are nearly 0: then
// the answer of a head is a mean of the values of its key head. Or from answered scores. Empty if
// they are those of the formula, floor(h / (H/K)), or if the answers do not show them.
std::vector<size_t> OtherKeyHeads(const std::vector<Exchange>& exchanges);

// The same question and answer with a key head for every query head: the one that it reads. Then
// the formula shares nothing, and everything else can be found.
Exchange WithOwnKeyHeads(Exchange exchange, const std::vector<size_t>& key_heads);

// "h mod K (tiled)", or the list of the key heads.
std::string TextOfKeyHeads(const std::vector<size_t>& key_heads);

}  // namespace sextant::oracle
