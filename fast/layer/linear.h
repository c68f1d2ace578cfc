// Fast linear layers. The formula: reference/layer/linear.h.
#pragma once

#include "fast/simd/element.h"
#include "fast/simd/matmul.h"

namespace sextant::fast {

// A product is computed in blocks of at most so many rows and columns.
inline constexpr size_t kLinearRows = 512, kLinearColumns = 480;

// y[N,F] = x[N,K] weight^T + bias. x, weight[F,K] and y are row-major without gaps; bias[F], or
// null. Computes in f32 (f64 for f64) and rounds once. The sums are those of
// fast/simd/matmul-inl.h, so the bits of an output do not depend on the other rows. Error before
// the last rounding: (K + 1) u sum |x weight| + u |y|. Parts of it are computed on the threads of
// InParallelHere.
template <Element T>
void ApplyLinear(const ProductShape& shape, const T* x, const T* weight, const T* bias, T* y);

}  // namespace sextant::fast
