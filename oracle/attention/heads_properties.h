// Properties of operations with multi-head attention and the inputs wq, bq, wk, bk, wv, bv, wo, bo,
// with H query heads and K key heads.
#pragma once

#include <string>
#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

// `attended`: the index of the output that is wo mean + bo.
std::vector<Property> HeadsProperties(size_t attended);

// Reverses the order of the first `count` rows of a tensor.
void ReverseRows(Tensor<double>& tensor, size_t count);

}  // namespace sextant::oracle
