#include "oracle/diagnosis/answer/order.h"

namespace sextant::oracle {

std::vector<std::pair<size_t, size_t>> AxisPairsOf(const AnsweredTensor& tensor) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t a = 0; a < tensor.shape.size(); ++a) {
    for (size_t b = a + 1; b < tensor.shape.size(); ++b) {
      if (tensor.shape[a] > 1 && tensor.shape[b] > 1) pairs.emplace_back(a, b);
    }
  }
  return pairs;
}

ExchangedAxes::ExchangedAxes(const Shape& shape, size_t a, size_t b)
    : shape_(shape), strides_(shape.size(), 1) {
  Shape stored = shape;
  std::swap(stored[a], stored[b]);
  for (size_t d = shape.size() - 1; d-- > 0;) strides_[d] = strides_[d + 1] * stored[d + 1];
  std::swap(strides_[a], strides_[b]);  // by the axes of the right tensor
}

size_t ExchangedAxes::PlaceOf(size_t flat) const {
  size_t place = 0;
  for (size_t d = shape_.size(); d-- > 0; flat /= shape_[d])
    place += flat % shape_[d] * strides_[d];
  return place;
}

std::string ExchangedText(const AnsweredTensor& tensor, size_t a, size_t b) {
  return tensor.name + " is stored as if its axes " + std::to_string(a) + " and " +
         std::to_string(b) + " were exchanged";
}

}  // namespace sextant::oracle
