// Sums of tensors, for speed: what a block's branches add.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// y = a + b, or a + (b + c) if c is not null, element by element. Computes in f32 (f64 for f64) and
// rounds once: the error before that is 0, or at most u |b + c|. y is one of them, or memory that
// none touches.
template <Element T>
void Add(size_t count, const T* a, const T* b, const T* c, T* y) noexcept;

}  // namespace sextant::fast
