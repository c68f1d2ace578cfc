// Tensors that are stored as if two of their axes were exchanged.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// The pairs of axes of more than one index.
std::vector<std::pair<size_t, size_t>> AxisPairsOf(const AnsweredTensor& tensor);

// The place of an element if the axes a and b are exchanged.
class ExchangedAxes {
 public:
  ExchangedAxes(const Shape& shape, size_t a, size_t b);
  size_t PlaceOf(size_t flat) const;

 private:
  Shape shape_;
  std::vector<size_t> strides_;
};

// "y is stored as if its axes 1 and 2 were exchanged"
std::string ExchangedText(const AnsweredTensor& tensor, size_t a, size_t b);

}  // namespace sextant::oracle
