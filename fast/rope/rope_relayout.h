// Fast permutation of projection weights between the two pairings. The formula:
// reference/rope/rope_relayout.h. Rows are copied as bytes, so the element type does not matter.
#pragma once

#include <cstddef>

#include "reference/rope/scaling.h"

namespace sextant::fast {

struct Relayout {
  size_t H = 0, D = 0, R = 0, offset = 0;  // heads, head width, rotary width (even), window
  Pairing from = Pairing::kInterleaved, to = Pairing::kHalf;
};

// y = weight with the rows of every head permuted. Both have H*D contiguous rows of `row_bytes`
// bytes and must not overlap.
void RelayoutRows(const Relayout& r, const void* weight, size_t row_bytes, void* y) noexcept;

}  // namespace sextant::fast
