// Rotary frequencies to about 100 bits: R/2 numbers, in double-double. The formula:
// reference/rope_frequencies.h; the scalings: reference/scaling.h.
#pragma once

#include <vector>

#include "reference/double_double.h"
#include "reference/scaling.h"

namespace sextant::fast {

// base^-(2k/R) scaled, k = 0 .. R/2-1, in radians per token.
std::vector<DoubleDouble> Frequencies(double base, const RopeScaling& scaling, size_t rotary_width);

}  // namespace sextant::fast
