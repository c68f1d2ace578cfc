// Fast linear layers. The formula: reference/layer/linear.h.
#pragma once

#include "fast/simd/element.h"
#include "fast/simd/matmul.h"

namespace sextant::fast {

// Elements of scratch memory that ApplyLinear needs.
inline constexpr size_t kLinearRows = 512, kLinearColumns = 480;
inline constexpr size_t kLinearScratch = kProductScratch + kLinearRows * kLinearColumns;

// y[N,F] = x[N,K] weight^T + bias. x, weight[F,K] and y are row-major without gaps; bias[F], or
// null. Computes in f32 (f64 for f64) and rounds once. The sums are those of
// fast/simd/matmul-inl.h, so the bits of an output do not depend on the other rows. Error before
// the last rounding: (K + 1) u sum |x weight| + u |y|.
template <Element T>
void ApplyLinear(const ProductShape& shape, const T* x, const T* weight, const T* bias, T* y,
                 Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
