// Fast multiplication of each row by a factor, which scales queries by position. The formulas:
// reference/position/log_n_scale.h, reference/position/temperature_scale.h.
#pragma once

#include <span>

#include "fast/simd/element.h"
#include "reference/number/double_double/double_double.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::fast {

// y[r,d] = x[r,d] factor[r mod n] for r < rows, d < width, n = factor.size(). Computes in f32 (f64
// for f64) and rounds once. The error before the last rounding is at most u |y| with unit roundoff
// u, if no number is subnormal. y is x, or does not overlap x.
template <Element T>
void ScaleRows(size_t rows, size_t width, const T* x, std::span<const Computed<T>> factor, T* y);

// y[b,h,s,d] = x[b,h,s,d] factor[s]. Factors are first rounded to Computed<T>.
StoredTensors ScaleByPosition(const StoredTensor& x, const std::vector<DoubleDouble>& factor);

}  // namespace sextant::fast
