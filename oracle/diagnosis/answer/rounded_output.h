// Answers all of whose numbers are those of a coarser format than the dtype, or multiples of a
// number.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// "output_in_f16": "all numbers of y are rounded to f16", if each is the right number rounded to
// nearest, down, toward 0, or either up or down, but for its own error.
struct RoundedOutput {
  std::string name, sentence;
};
std::optional<RoundedOutput> FindRounded(const AnsweredTensor& tensor);

}  // namespace sextant::oracle
