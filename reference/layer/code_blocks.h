// Blocks of codes that share a scale.
#pragma once

#include <cstddef>

#include "reference/number/tensor/tensor.h"

namespace sextant {

// The block x[n,:,g,:] of a tensor [N,A,G,M]: calls use(flat) for its elements.
template <class Use>
void ForBlock(const Shape& shape, size_t n, size_t g, const Use& use) {
  const size_t A = shape[1], G = shape[2], M = shape[3];
  for (size_t a = 0; a < A; ++a)
    for (size_t m = 0; m < M; ++m) use(((n * A + a) * G + g) * M + m);
}

}  // namespace sextant
