// One row of a table of cos and sin, computed with vectors from two rows whose positions add up to
// its position. Reports the columns whose rounding it cannot decide; rope_table.cc computes those.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// cos and sin of one position for n frequencies, as double-doubles. Four arrays of n numbers, one
// after another: cosines, sines, low parts of cosines, low parts of sines.
struct CosSinRow {
  double* cosine;
  size_t n;
  double* sine() const { return cosine + n; }
  double* cosine_low() const { return cosine + 2 * n; }
  double* sine_low() const { return cosine + 3 * n; }
};

// Consecutive columns whose rounding is not decided.
struct UndecidedColumns {
  size_t first, count;
};

// to = a b, as complex numbers; `to` may be a.
void MultiplyCosSins(const CosSinRow& a, const CosSinRow& b, const CosSinRow& to) noexcept;

// Writes the row of position a + b, each entry known within `error` before it is rounded, as
// elements of one dtype. Returns the number of entries of `undecided` (room for n) that it wrote.
using RowFiller = size_t (*)(const CosSinRow& a, const CosSinRow& b, double error, void* cosine,
                             void* sine, UndecidedColumns* undecided) noexcept;

// The row filler of that dtype for this processor. Get it once per table, not once per row.
RowFiller RowFillerOf(DType dtype) noexcept;

}  // namespace sextant::fast
