// Answers that are the right numbers plus a multiple of an input: a residual that is added once
// more, or not at all.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

struct AddedInput {
  std::string name, sentence;  // "x_subtracted", "x is subtracted from y"
};
// An input of the shape of the tensor, if that explains every element.
std::optional<AddedInput> FindAddedInput(const AnsweredTensor& tensor, const Tensors& inputs);

}  // namespace sextant::oracle
