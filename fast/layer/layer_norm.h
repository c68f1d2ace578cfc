// Fast layer normalisation of rows. The formula: reference/layer/layer_norm.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Rows of M contiguous elements; the steps between rows are in elements.
struct CenteredRows {
  size_t N = 0, M = 0;
  ptrdiff_t x_row = 0, y_row = 0;
  double eps = 1e-5;
};

// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row, in two passes: the variance is
// the mean of (x - mean)^2, so a large mean causes no cancellation. y is x (same steps), or does
// not overlap x. Computes in f32 (f64 for f64) and rounds once; sums have 4 accumulators per lane.
// Worst-case error before the last rounding, to first order in u:
//   mean               (M + 1) u mean|x|, which is also an error of every x - mean
//   variance           2 mean|x - mean| times the error of the mean, plus (M + 4) u variance
//   (x - mean) / root  4 u relative: the difference, root, 1/root and the product
//   result             u relative each: the product with the weight (unless fused), and y
template <Element T>
void NormalizeCentered(const CenteredRows& rows, const T* x, const Computed<T>* weight,
                       const Computed<T>* bias, T* y);

}  // namespace sextant::fast
