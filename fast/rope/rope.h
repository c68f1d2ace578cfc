// Fast rotation by position: fills tables, then applies them. The formulas: reference/rope/rope.h,
// reference/rope/rope_given.h, reference/rope/rope_complex.h and others with different tables.
#pragma once

#include <vector>

#include "fast/kernel/typed.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_rotate.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {

// The rotation of x[B,H,S,D] for an operation with the attributes of rope.
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

// y = x rotated. fill(cosine, sine) writes the table [B,S,R/2]; if `shared`, [B,1,R/2]: one row for
// all rows of a sequence. For 16-bit elements the table is f32.
template <class Fill>
StoredTensors RotateByTables(const Rotation& r, const StoredTensor& x, const Fill& fill,
                             bool shared = false) {
  StoredTensors y;
  y.emplace_back("y", x.dtype(), x.shape());
  WithElement(x.dtype(), [&]<class T>() {
    using Table = Computed<T>;
    const size_t pairs = r.R / 2, rows = shared ? 1 : r.S;
    std::vector<Table> cosine(r.B * rows * pairs), sine(cosine.size());
    fill(cosine.data(), sine.data());
    const RotaryTable<Table> table{cosine.data(), sine.data(), static_cast<ptrdiff_t>(rows * pairs),
                                   shared ? 0 : static_cast<ptrdiff_t>(pairs)};
    Rotate<T, Table>(r, Dense(r, x.As<T>()), table, Dense(r, y[0].As<T>()));
  });
  return y;
}

// A rotation and the frequencies of its pairs.
struct PairRotation {
  Rotation rotation;
  Frequencies frequencies;
};
// Rotates x[B,H,S,D] by position[B,S].
StoredTensors RotateByPosition(const PairRotation& rotation, const StoredTensor& x,
                               const StoredTensor& position);

}  // namespace sextant::fast
