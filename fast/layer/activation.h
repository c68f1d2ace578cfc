// Activations, soft caps and gated units, for speed. The formulas: reference/layer/activation.h,
// reference/attention/soft_cap.h, reference/layer/gated.h.
#pragma once

#include <cstddef>
#include <limits>

#include "fast/simd/element.h"
#include "reference/layer/gated.h"

namespace sextant::fast {

// All functions compute in f32 (f64 for f64) and round once; y may be an input. Their sigmoid, tanh
// and erf have the errors that activation-inl.h states.

// y_i = f(x_i). gelu is x (1 + erf(x / sqrt 2)) / 2, with the absolute error that this has far
// below 0.
template <Element T>
void Activate(ActivationKind kind, double beta, const T* x, T* y, size_t count) noexcept;

// y_i = cap tanh(x_i / cap)
template <Element T>
void CapSoftly(double cap, const T* x, T* y, size_t count) noexcept;

// y = f(g) (u + offset), g = min(gate, limit), u = min(max(up, -limit), limit), for N rows of F
// neighbouring elements; the steps between rows are in elements.
struct GateRows {
  size_t N = 0, F = 0;
  ptrdiff_t gate_row = 0, up_row = 0, y_row = 0;
  GateKind kind = GateKind::kSwiglu;
  double beta = 1;
  double limit = std::numeric_limits<double>::infinity();
  bool plus_one = false;  // the offset
};
template <Element T>
void Gate(const GateRows& rows, const T* gate, const T* up, T* y) noexcept;

}  // namespace sextant::fast
