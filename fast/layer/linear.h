// Linear layers, for speed. The formula: reference/layer/linear_bias.h.
#pragma once

#include "fast/simd/element.h"
#include "fast/simd/matmul.h"
#include "reference/case/case.h"

namespace sextant::fast {

// Elements of scratch memory that ApplyLinear needs.
inline constexpr size_t kLinearRows = 512, kLinearColumns = 480;
inline constexpr size_t kLinearScratch = kProductScratch + kLinearRows * kLinearColumns;

// y [N,F] = x [N,K] weight^T + bias, weight [F,K] and y row-major without gaps; bias [F], or null.
// Computes in f32 (f64 for f64) and rounds once: each sum as fast/simd/matmul-inl.h says, so that
// an output has the same bits whatever rows are computed beside it. Error, before the last
// rounding: (K + 1) u sum |x weight| + u |y|.
template <Element T>
void ApplyLinear(const ProductShape& shape, const T* x, const T* weight, const T* bias, T* y,
                 Computed<T>* scratch) noexcept;

// The answer to a case of `linear` or `linear_bias`.
Tensors AnswerLinear(const Case& c, const Tensors& inputs);

}  // namespace sextant::fast
