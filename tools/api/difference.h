// Compares a stored tensor with the expected one, bit by bit.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "reference/number/tensor/tensor.h"

namespace sextant::tools {

// Describes the first difference in shape or value; empty if there is none. Values are compared by
// their bits, but all NaNs are equal. Example with path "x": "x[0,1] is 3, expected 5".
std::string Difference(const std::string& path, const Tensor<double>& stored,
                       const Tensor<double>& expected);

// The same for numbers of a tensor of that shape; number i is element `index_of(i)`.
std::string Difference(const std::string& path, const Shape& shape, std::span<const double> stored,
                       std::span<const double> expected,
                       const std::function<size_t(size_t)>& index_of);

}  // namespace sextant::tools
