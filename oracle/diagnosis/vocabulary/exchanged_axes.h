// Tensors that are stored as if two of their axes were exchanged.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// The pairs of axes of more than one index.
std::vector<std::pair<size_t, size_t>> AxisPairsOf(const Shape& shape);

// The place of an element if the axes a and b are exchanged.
std::function<size_t(size_t flat)> PlaceWithExchangedAxes(const Shape& shape, size_t a, size_t b);

// A tensor read from memory in which the axes a and b are exchanged.
std::vector<double> ReadWithExchangedAxes(const Tensor<double>& x, size_t a, size_t b);

// "y is stored as if its axes 1 and 2 were exchanged"
std::string ExchangedText(const std::string& name, size_t a, size_t b);

}  // namespace sextant::oracle
