// Right numbers at wrong places: slabs of an answer that are the right ones of another index on
// some axis.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// Where the numbers of an index come from.
struct Source {
  std::string text;  // "S + 1", "S 0", "S in another order (reversed)"
  std::function<std::optional<size_t>(size_t index)> of;  // none: from nowhere
};

struct Moved {
  std::string sentence;
  std::vector<size_t> explained;  // failing elements, flat indices
};

// Along one axis; along the rows of a tensor with several axes of rows; two axes exchanged.
std::optional<Moved> FindMoved(const AnsweredTensor& tensor);

}  // namespace sextant::oracle
