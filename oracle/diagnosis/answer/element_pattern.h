// Which elements of a tensor, in words.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

using Indices = std::vector<std::vector<size_t>>;  // on each axis of a tensor, ascending

// "S 12 to 15, D 3"; empty for the whole tensor.
std::string BlockText(const AnsweredTensor& tensor, const Indices& block);

struct ElementPattern {
  std::string text;         // "every 64th element from 63 on", "D 32 to 47"
  bool is_regular = false;  // a place in memory decides, not the numbers
};

// Of flat indices, ascending, not empty.
ElementPattern PatternOf(const AnsweredTensor& tensor, const std::vector<size_t>& elements);

}  // namespace sextant::oracle
