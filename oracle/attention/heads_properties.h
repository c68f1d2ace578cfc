// Properties of whatever projects to heads, attends, and projects back with wq, bq, wk, bk, wv, bv,
// wo, bo: of H query heads and K key heads.
#pragma once

#include <string>
#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

// `attended`: the index of the output that is wo mean + bo.
std::vector<Property> HeadsProperties(size_t attended);

// The first `count` rows of the tensor in reverse order.
void ReverseRows(Tensor<double>& tensor, size_t count);

}  // namespace sextant::oracle
