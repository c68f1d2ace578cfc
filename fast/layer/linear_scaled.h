// Fast linear layers of scaled blocks. The definition: reference/layer/linear_scaled.h.
#pragma once

#include "fast/simd/element.h"
#include "fast/simd/matmul.h"

namespace sextant::fast {

// x[N,B,G,M] and weight[F,A,G,M], as numbers; scales[N,G] and [F,G]; y[N,B,F,A].
struct ScaledShape {
  size_t N, B, G, M, F, A;
  size_t rows() const { return N * B; }
  size_t columns() const { return F * A; }
  // Elements of scratch memory.
  size_t scratch() const { return kProductScratch + (2 * rows() + 1) * columns(); }
};

template <class C>
struct Scales {
  const C* x = nullptr;  // null: 1
  const C* weight = nullptr;
};

// bias[F,A], or null. Computes in f32 (f64 for f64) and rounds once. The sum of a block is that of
// ApplyLinear; blocks are added in order. Error before the last rounding: (M + G + 2) u times the
// sum of the |terms|, and u |y|.
template <Element T>
void ApplyLinearScaled(const ScaledShape& shape, const Computed<T>* x, const Computed<T>* weight,
                       const Scales<Computed<T>>& scales, const T* bias, T* y,
                       Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
