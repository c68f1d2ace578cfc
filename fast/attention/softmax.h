// Fast softmax of rows. The formula: reference/attention/softmax.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Rows of M contiguous elements; the steps between rows are in elements.
struct SoftmaxRows {
  size_t N = 0, M = 0;
  ptrdiff_t x_row = 0, y_row = 0;
};

// y_j = e^(x_j - largest) / sum, row by row. -infinity gives 0; a row of -infinity gives NaN. y is
// x (same steps), or does not overlap x. Computes in f32 (f64 for f64) and rounds once:
// exponentials within an ulp (fast/simd/exp-inl.h), their sum in any order, one reciprocal, one
// product.
template <Element T>
void SoftmaxOfRows(const SoftmaxRows& rows, const T* x, T* y);

}  // namespace sextant::fast
