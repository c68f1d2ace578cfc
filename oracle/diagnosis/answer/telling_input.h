// An input that tells at which indices of an axis an answer fails: a position, a token, a number of
// the row.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// " (where position is at least 32774; elsewhere it is at most 29999)", if an input has one number
// for each index of the axis, and those of these indices are in a range in which no other is. Empty
// if there is no such input, or if the indices are one range: then that may be the reason.
std::string TellingInput(const Observation& seen, const std::string& axis,
                         const std::vector<size_t>& indices);

}  // namespace sextant::oracle
