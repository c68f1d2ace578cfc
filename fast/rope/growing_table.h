// Tables of cos and sin whose amplitude grows or decays with the position, for speed: xpos.
#pragma once

#include <span>

#include "fast/simd/element.h"
#include "reference/number/double_double.h"

namespace sextant::fast {

// What pair k turns and grows by in one token.
struct Spiral {
  DoubleDouble frequency;  // radians
  DoubleDouble growth;     // natural logarithm of the factor
};

// cosine, sine [position, pair]: T nearest to e^(growth (position - center)) cos(position *
// frequency), and sin; infinite or 0 where that lies outside of T.
//   position  integers of at most 2^53 in magnitude, any order; so is center
// f32, f16, bf16: products of doubles whose proven error decides their rounding; else, and f64, in
// double-double, where an entry is off by at most 2^-90 of its amplitude before it is rounded (of
// exp 12 units of 2^-106 and 745 times 60 of its argument, of 256 products in a row 17 each, of the
// turn 13). A subnormal f64 is rounded twice.
template <Element T>
void FillGrowingTable(std::span<const double> position, double center,
                      std::span<const Spiral> spirals, T* cosine, T* sine);

}  // namespace sextant::fast
