// Fast tables of cos and sin whose amplitude grows or decays with the position: xpos.
#pragma once

#include <span>

#include "fast/simd/element.h"
#include "reference/number/double_double/double_double.h"

namespace sextant::fast {

// Rotation and growth of one pair per token.
struct GrowingRotation {
  DoubleDouble frequency;  // radians
  DoubleDouble growth;     // natural logarithm of the factor
};

// cosine, sine [position, pair]: the T nearest to e^(growth (position - center)) cos(position *
// frequency), and the same with sin; infinite or 0 outside the range of T.
//   position  integers of at most 2^53 in magnitude, any order; also center
// f32, f16 and bf16 entries are products of doubles if the proven error bound decides the rounding.
// Other entries, and all f64 entries, are computed in double-double. Their error before rounding is
// at most 2^-90 of the amplitude (units of 2^-106: exp 12, its argument 745 * 60, each of up to 256
// consecutive products 17, cos and sin 13). A subnormal f64 is rounded twice.
template <Element T>
void FillGrowingTable(std::span<const double> position, double center,
                      std::span<const GrowingRotation> rotations, T* cosine, T* sine);

}  // namespace sextant::fast
