// Fast sums of tensors, as in the residual additions of a block.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// y = a + b, or a + (b + c) if c is not null, element by element. Computes in f32 (f64 for f64) and
// rounds once. The error before the last rounding is 0 for two operands, at most u |b + c| for
// three. y is one of the operands, or overlaps none of them.
template <Element T>
void Add(size_t count, const T* a, const T* b, const T* c, T* y);

}  // namespace sextant::fast
