// A defect of codes of 4 bits, of which two are in a byte.
#pragma once

#include <cstddef>
#include <utility>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// Exchanges the columns 0 and 1, 2 and 3 ... of codes[N,A,G,M].
template <class Real>
void ExchangePairs(Tensor<Real>& codes) {
  const size_t M = codes.shape[3];
  for (size_t i = 0; i + 1 < codes.data.size(); ++i)
    if (i % M % 2 == 0 && i % M + 1 < M) std::swap(codes.data[i], codes.data[i + 1]);
}

}  // namespace sextant::oracle
