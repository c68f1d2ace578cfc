// Tables of cos and sin, correctly rounded, for speed. The formula:
// reference/rope/rope_table.h.
#pragma once

#include <span>

#include "fast/simd/element.h"
#include "reference/number/double_double.h"

namespace sextant::fast {

// cosine, sine [position, frequency]: T nearest to amplitude * cos(position * frequency), and sin.
//   position   integers of at most 2^53 in magnitude, any order
//   frequency  radians per token; taken as exact, and so is the amplitude
// Where |position * frequency| > 2^53 the entries are NaN.
// Most entries are products of two rounded rows (position = coarse + fine) in double, whose proven
// error decides their rounding. Of the others, and of f64, double-double arithmetic decides nearly
// all; what is left, next to zeros of the function and at amplitudes below 2^-900 or above 2^900,
// is computed in wide fixed point (fast/rope/precise_cos_sin.h).
template <Element T>
void FillTable(std::span<const double> position, std::span<const DoubleDouble> frequency,
               const DoubleDouble& amplitude, T* cosine, T* sine);

}  // namespace sextant::fast
