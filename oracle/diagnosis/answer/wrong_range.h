// Answers that are wrong where an input of their shape, or the right number, is in a range, and
// right elsewhere: a polynomial with a wrong coefficient, a clamp, a branch for large numbers.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// "y is wrong only where x is from 1.01 to 1.98: it is 1.25 times the right number there", if 9 of
// 10 elements fail there, none elsewhere, and neither part is small. Or "y is right only where
// ...".
struct WrongRange {
  std::string name, sentence;  // "wrong_in_range"
};
std::optional<WrongRange> FindWrongRange(const AnsweredTensor& tensor, const Tensors& inputs);

}  // namespace sextant::oracle
