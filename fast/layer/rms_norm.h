// Fast root mean square normalisation of rows. The formula: reference/layer/rms_norm.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Rows of M contiguous elements; the steps between rows are in elements.
struct Rows {
  size_t N = 0, M = 0;
  ptrdiff_t x_row = 0, y_row = 0;
  double eps = 1e-5;
  bool unit_offset = false;  // multiply by 1 + weight
};

// y = x / sqrt(mean(x^2) + eps) * weight, row by row. y is x (same steps), or does not overlap x.
// Computes in f32 (f64 for f64) and rounds once; the sum of squares has 4 accumulators per lane.
// Worst-case relative error before the last rounding, to first order in u: (M + 9) u / 2 for the
// root, and 3 u for 1/root, x/root and the weight.
template <Element T>
void NormalizeRows(const Rows& rows, const T* x, const Computed<T>* weight, T* y);

}  // namespace sextant::fast
