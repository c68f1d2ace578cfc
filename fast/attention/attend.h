// Fast attention in all forms of reference/. The formula: reference/attention/attention.h.
#pragma once

#include <cstddef>

#include "fast/attention/attend_rows.h"

namespace sextant::fast {

// Elements of scratch memory that Attend needs.
template <Element T>
size_t AttendScratchOf(const AttendInputs<T>& in);

// Calls the faster of AttendRows and AttendTiles: rows if few queries share a key head, as in
// decoding, otherwise tiles.
template <Element T>
void Attend(const AttendInputs<T>& in, T* y, Computed<T>* lse, Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
