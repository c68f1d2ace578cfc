// Rows times one factor each, for speed: what scales queries by their position. The formulas:
// reference/position/log_n_scale.h, reference/position/temperature_scale.h.
#pragma once

#include <span>

#include "fast/simd/element.h"
#include "reference/number/double_double.h"
#include "reference/number/tensor.h"

namespace sextant::fast {

// y[r,d] = x[r,d] factor[r mod n], r < rows, d < width, of n factors. Computes in f32 (f64 for f64)
// and rounds once; without subnormals the error before that is at most u |y|, u the unit roundoff.
// y is x, or memory that x does not touch.
template <Element T>
void ScaleRows(size_t rows, size_t width, const T* x, std::span<const Computed<T>> factor,
               T* y) noexcept;

// y = x [B,H,S,D] with row s times factor[s], rounded first to the type in which ScaleRows
// computes.
Tensors ScaleByPosition(DType dtype, const Tensor<double>& x,
                        const std::vector<DoubleDouble>& factor);

}  // namespace sextant::fast
