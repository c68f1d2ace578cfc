// Rotation by position: tables filled, then applied. The formulas: reference/rope.h,
// reference/rope_given.h, reference/rope_complex.h.
#pragma once

#include <span>
#include <vector>

#include "fast/rope_rotate.h"
#include "fast/rope_table.h"
#include "reference/tensor.h"

namespace sextant::fast {

// What every operation that rotates x [B,H,S,D] by position [B,S] does, from its frequencies on.
struct Turning {
  Rotation rotation;
  std::vector<DoubleDouble> frequency;  // R/2, radians per token
  DoubleDouble amplitude = 1.0;
};

// y = x rotated; the tables of 16-bit elements are kept in f32.
Tensors TurnByPosition(const Turning& turning, DType dtype, const Tensor<double>& x,
                       const Tensor<double>& position);

}  // namespace sextant::fast
