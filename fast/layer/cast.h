// Fast conversion between all floating-point types and those of codes. The definition:
// reference/layer/cast.h.
#pragma once

#include <cstddef>

#include "reference/layer/cast.h"

namespace sextant::fast {

// y_i = x_i as `to` stores it: the bits that CastTo gives, apart from those of NaN; integers
// saturate. x and y point to `count` elements of these types; y may be x if both have the same
// size.
void Convert(DType from, const void* x, DType to, void* y, Overflow overflow, size_t count);

}  // namespace sextant::fast
