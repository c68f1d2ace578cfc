// Activations, for speed. The formulas: reference/layer/activation.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"
#include "reference/layer/activation.h"

namespace sextant::fast {

// y_i = f(x_i), computed in f32 (f64 for f64) and rounded once; y may be x. Its sigmoid, tanh and
// erf have the errors that activation-inl.h states. gelu is x (1 + erf(x / sqrt 2)) / 2, with the
// absolute error that this has far below 0.
template <Element T>
void Activate(ActivationKind kind, double beta, const T* x, T* y, size_t count) noexcept;

}  // namespace sextant::fast
