// Layer normalisation of rows, for speed. The formula: reference/layer/layer_norm.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Rows of M neighbouring elements; the steps between rows are in elements.
struct CenteredRows {
  size_t N = 0, M = 0;
  ptrdiff_t x_row = 0, y_row = 0;
  double eps = 1e-5;
};

// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row, in two passes: the variance is
// the mean of (x - mean)^2, so that a large mean cancels nothing. y is x (same steps), or memory
// that x does not touch. Computes in f32 (f64 for f64) and rounds once; sums have 4 accumulators
// per lane. Error to first order in u, before the last rounding, in the worst case: (M + 1) u
// mean|x| of the mean, which reaches every x - mean; twice that times mean|x - mean|, and (M + 4) u
// of it, of the variance; 4 u of (x - mean)/root for the difference, root, 1/root and the product;
// u each of the product with the weight (where it is not fused) and of y.
template <Element T>
void NormalizeCentered(const CenteredRows& rows, const T* x, const Computed<T>* weight,
                       const Computed<T>* bias, T* y) noexcept;

}  // namespace sextant::fast
