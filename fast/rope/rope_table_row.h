// One row of a table of cos and sin, from two rows whose positions add up to its own, with vectors.
// What the fast way cannot decide it names; rope_table.h fills it in.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// cos and sin of one position for all n frequencies, as double-doubles: four runs of n numbers,
// cosines and sines, then their low parts.
struct CosSinRow {
  double* cosine;
  size_t n;
  double* sine() const { return cosine + n; }
  double* cosine_low() const { return cosine + 2 * n; }
  double* sine_low() const { return cosine + 3 * n; }
};

// Columns of a row whose rounding the fast way could not decide.
struct UndecidedColumns {
  size_t first, count;
};

// to = a b; `to` may be a.
void MultiplyCosSins(const CosSinRow& a, const CosSinRow& b, const CosSinRow& to) noexcept;

// Writes the row of position a + b, each entry known within `error` before it is rounded, as
// elements of one dtype. Returns the number of entries of `undecided` (room for n) that it wrote.
using RowFiller = size_t (*)(const CosSinRow& a, const CosSinRow& b, double error, void* cosine,
                             void* sine, UndecidedColumns* undecided) noexcept;

// The row filler of that dtype for this processor. Get it once per table, not once per row.
RowFiller RowFillerOf(DType dtype) noexcept;

}  // namespace sextant::fast
