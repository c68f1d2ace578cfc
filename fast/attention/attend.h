// Attention for speed, in every form that reference/ knows. The formula:
// reference/attention/attention.h.
#pragma once

#include <cstddef>

#include "fast/attention/attend_rows.h"

namespace sextant::fast {

// Elements of scratch memory that Attend needs.
template <Element T>
size_t AttendScratchOf(const AttendInputs<T>& in);

// What AttendRows and AttendTiles answer, by the faster of them: rows where few queries share a key
// head, as in decoding, tiles otherwise.
template <Element T>
void Attend(const AttendInputs<T>& in, T* y, Computed<T>* lse, Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
