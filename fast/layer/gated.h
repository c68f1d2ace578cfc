// Fast gated units. The formula: reference/layer/gated.h.
#pragma once

#include <cstddef>
#include <limits>

#include "fast/simd/element.h"
#include "reference/layer/gated.h"

namespace sextant::fast {

// y = f(g) (u + offset), g = min(gate, limit), u = min(max(up, -limit), limit), for N rows of F
// contiguous elements; the steps between rows are in elements. Computed in f32 (f64 for f64) and
// rounded once; y may be gate or up. The error of f is stated in activation-inl.h.
struct GateRows {
  size_t N = 0, F = 0;
  ptrdiff_t gate_row = 0, up_row = 0, y_row = 0;
  GateKind kind = GateKind::kSwiglu;
  double beta = 1;
  double limit = std::numeric_limits<double>::infinity();
  bool plus_one = false;  // the offset is 1, otherwise 0
};
template <Element T>
void Gate(const GateRows& rows, const T* gate, const T* up, T* y);

}  // namespace sextant::fast
