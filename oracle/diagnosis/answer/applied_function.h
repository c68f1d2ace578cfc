// Answers that are a function of each right number: an activation that is fused into a layer, a
// limit of the output.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// "y is 0 where it should be negative: max(y, 0), a relu", if that explains every element.
std::optional<std::string> FindApplied(const AnsweredTensor& tensor);

}  // namespace sextant::oracle
