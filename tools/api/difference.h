// Whether a stored tensor is the one that it should be.
#pragma once

#include <string>

#include "reference/number/tensor.h"

namespace sextant::tools {

// Where the two differ in shape or, by their bits, in a value: "x[0,1] is 3, expected 5" of the
// first such element, if `path` is "x". Empty if they are the same; all NaNs are.
std::string Difference(const std::string& path, const Tensor<double>& stored,
                       const Tensor<double>& right);

}  // namespace sextant::tools
