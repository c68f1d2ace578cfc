// Rotation by position: tables filled, then applied. The formulas: reference/rope/rope.h,
// reference/rope/rope_given.h, reference/rope/rope_complex.h and others that differ in their
// tables.
#pragma once

#include <vector>

#include "fast/kernel/typed.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_rotate.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {

// The rotation of x [B,H,S,D] that an operation with rope's attributes describes.
template <class Op>
Rotation RotationOf(const Op& op, const Shape& x) {
  return {.B = x[0],
          .H = x[1],
          .S = x[2],
          .D = x[3],
          .R = static_cast<size_t>(op.R.value),
          .offset = static_cast<size_t>(op.offset),
          .pairing = op.pairing,
          .direction = op.direction};
}

// y = x rotated. fill(cosine, sine) writes the table [B,S,R/2]; with `shared` [B,1,R/2], one row
// for all rows of a sequence. Tables of 16-bit elements are kept in f32.
template <class Fill>
Tensors TurnByTables(const Rotation& r, DType dtype, const Tensor<double>& x, const Fill& fill,
                     bool shared = false) {
  return WithElement(dtype, [&]<class T>() -> Tensors {
    using Table = Computed<T>;
    const size_t pairs = r.R / 2, rows = shared ? 1 : r.S;
    std::vector<Table> cosine(r.B * rows * pairs), sine(cosine.size());
    fill(cosine.data(), sine.data());
    const std::vector<T> from = ToElements<T>(x);
    std::vector<T> to(from.size());
    const RotaryTable<Table> table{cosine.data(), sine.data(), static_cast<ptrdiff_t>(rows * pairs),
                                   shared ? 0 : static_cast<ptrdiff_t>(pairs)};
    Rotate<T, Table>(r, Dense(r, from.data()), table, Dense(r, to.data()));
    return {ToTensor("y", x.shape, to)};
  });
}

// What every operation that rotates x [B,H,S,D] by position [B,S] does, from its frequencies on.
struct PairRotation {
  Rotation rotation;
  Frequencies frequencies;
};
Tensors TurnByPosition(const PairRotation& turning, DType dtype, const Tensor<double>& x,
                       const Tensor<double>& position);

}  // namespace sextant::fast
