// Rotary frequencies and amplitude with about 100 correct bits, in double-double. The formula:
// reference/rope/rope_frequencies.h; the scalings: reference/rope/scaling.h.
#pragma once

#include <vector>

#include "reference/number/double_double/double_double.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::fast {

struct Frequencies {
  std::vector<DoubleDouble> of_pair;  // base^-(2k/R) scaled, k = 0 .. R/2-1, in radians per token
  DoubleDouble amplitude = 1.0;       // factor of cos and sin
};

Frequencies ScaledFrequencies(const RopeFrequencies& op);

}  // namespace sextant::fast
