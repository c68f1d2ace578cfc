// Fast activations. The formulas: reference/layer/activation.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"
#include "reference/layer/activation.h"

namespace sextant::fast {

// y_i = f(x_i), computed in f32 (f64 for f64) and rounded once; y may be x. Sigmoid, tanh and erf
// have the errors stated in activation-inl.h. gelu is computed as x (1 + erf(x / sqrt 2)) / 2, so
// for x far below 0 its error is absolute, not relative.
template <Element T>
void Activate(ActivationKind kind, double beta, const T* x, T* y, size_t count);

}  // namespace sextant::fast
