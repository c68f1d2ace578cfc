// Fast soft caps. The formula: reference/attention/soft_cap.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// y_i = cap tanh(x_i / cap), computed in f32 (f64 for f64) and rounded once; y may be x. The error
// of tanh is stated in activation-inl.h.
template <Element T>
void ApplySoftCap(double cap, const T* x, T* y, size_t count);

}  // namespace sextant::fast
