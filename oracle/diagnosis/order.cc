#include "oracle/diagnosis/order.h"

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

std::vector<size_t> PlacesIfExchanged(const AnsweredTensor& tensor, size_t a, size_t b) {
  const size_t rank = tensor.shape.size();
  Shape stored = tensor.shape;
  std::swap(stored[a], stored[b]);
  std::vector<size_t> strides(rank, 1);  // of the stored axes
  for (size_t d = rank - 1; d-- > 0;) strides[d] = strides[d + 1] * stored[d + 1];
  std::swap(strides[a], strides[b]);  // of the right axes
  std::vector<size_t> places(tensor.got.size());
  for (size_t flat = 0; flat < places.size(); ++flat) {
    size_t rest = flat;
    for (size_t d = rank; d-- > 0; rest /= tensor.shape[d])
      places[flat] += rest % tensor.shape[d] * strides[d];
  }
  return places;
}

std::string ExchangedText(const AnsweredTensor& tensor, size_t a, size_t b) {
  return tensor.name + " is stored as if its axes " + std::to_string(a) + " and " +
         std::to_string(b) + " were exchanged";
}

}  // namespace sextant::oracle
