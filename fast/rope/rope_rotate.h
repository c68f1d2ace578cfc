// Fast rotation of queries and keys with given tables. The formula: reference/rope/rope_rotate.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"
#include "reference/rope/scaling.h"

namespace sextant::fast {

// Sizes, rotated channels and direction of a rotation.
struct Rotation {
  size_t B = 1, H = 1, S = 1;  // batch, heads, sequence
  size_t D = 0;                // head width
  size_t R = 0;                // rotary width, even; channels outside offset .. offset+R are copied
  size_t offset = 0;           // offset + R <= D
  Pairing pairing = Pairing::kHalf;
  Direction direction = Direction::kForward;
};

// [B,H,S,D] in memory. Channels are contiguous; the other steps are given in elements.
template <class T>
struct Heads {
  T* data;
  ptrdiff_t batch, head, row;
};
template <class T>
Heads<T> Dense(const Rotation& r, T* data) {
  const auto row = static_cast<ptrdiff_t>(r.D), head = static_cast<ptrdiff_t>(r.S) * row;
  return {data, static_cast<ptrdiff_t>(r.H) * head, head, row};
}

// cos and sin [B,S,R/2] with contiguous pairs. batch = 0: all sequences share one table.
template <class Table>
struct RotaryTable {
  const Table* cosine;
  const Table* sine;
  ptrdiff_t batch, row;
};
template <class Table>
RotaryTable<Table> DenseTable(const Rotation& r, const Table* cosine, const Table* sine) {
  const auto row = static_cast<ptrdiff_t>(r.R / 2);
  return {cosine, sine, static_cast<ptrdiff_t>(r.S) * row, row};
}

// y = x rotated. y is x (same data and steps), or does not overlap x. Computes in f32 (f64 for f64)
// and rounds once. Table is T, or float for a 16-bit T.
//   y_i = fma(x_i, c, -(x_j s)),  y_j = fma(x_i, s, x_j c)     (not fused before AVX2)
// Error of y_i before the last rounding, with unit roundoff u: at most u (|x_j s| + |y_i|) (1 + u);
// not fused: u (|x_i c| + |x_j s| + |y_i|) (1 + u).
template <Element T, Element Table>
void Rotate(const Rotation& r, Heads<const T> x, RotaryTable<Table> table, Heads<T> y);

}  // namespace sextant::fast
