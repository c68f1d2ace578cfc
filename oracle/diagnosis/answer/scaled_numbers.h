// Answers whose numbers are the right ones times a number, or plus one: all that fail, or those of
// each row, or of each column; or the rows normed.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// "y is 1.25 times the right number at F 8 to 11", if that explains every failing element, and if
// the number differs from the right one by more than sums in bf16 do.
struct Scaled {
  std::string name, sentence;  // "rows_multiplied"
};
std::optional<Scaled> FindScaled(const AnsweredTensor& tensor);

}  // namespace sextant::oracle
