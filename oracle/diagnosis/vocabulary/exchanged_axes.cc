#include "oracle/diagnosis/vocabulary/exchanged_axes.h"

namespace sextant::oracle {

std::vector<std::pair<size_t, size_t>> AxisPairsOf(const Shape& shape) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t a = 0; a < shape.size(); ++a)
    for (size_t b = a + 1; b < shape.size(); ++b)
      if (shape[a] > 1 && shape[b] > 1) pairs.emplace_back(a, b);
  return pairs;
}

std::function<size_t(size_t flat)> PlaceWithExchangedAxes(const Shape& shape, size_t a, size_t b) {
  Shape stored = shape, strides(shape.size(), 1);
  std::swap(stored[a], stored[b]);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * stored[d + 1];
  std::swap(strides[a], strides[b]);  // by the axes of the right tensor
  return [=](size_t flat) {
    size_t place = 0;
    for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) place += flat % shape[d] * strides[d];
    return place;
  };
}

std::vector<double> ReadWithExchangedAxes(const Tensor<double>& x, size_t a, size_t b) {
  const auto place_of = PlaceWithExchangedAxes(x.shape, a, b);
  std::vector<double> y(x.data.size());
  for (size_t flat = 0; flat < y.size(); ++flat) y[flat] = x.data[place_of(flat)];
  return y;
}

std::string ExchangedText(const std::string& name, size_t a, size_t b) {
  return name + " is stored as if its axes " + std::to_string(a) + " and " + std::to_string(b) +
         " were exchanged";
}

}  // namespace sextant::oracle
