// Tables of cos and sin, correctly rounded within the limits below, for speed. The formula:
// reference/rope_table.h.
#pragma once

#include <span>

#include "fast/element.h"
#include "reference/double_double.h"

namespace sextant::fast {

// cosine, sine [position, frequency]: T nearest to amplitude * cos(position * frequency), and sin.
//   position   integers of at most 2^53 in magnitude, any order
//   frequency  radians per token; taken as exact, and so is the amplitude
// Most entries are products of two rounded rows (position = coarse + fine) in double, whose proven
// error decides their rounding; the others, and f64, are computed in double-double.
// Correct rounding is proven for f32, f16 and bf16. An f64 entry next to a zero of its function,
// below 2^-45 of the amplitude, has the absolute error of SinCos, 13 * 2^-106, which may leave its
// last bit undecided; so may amplitudes below 2^-900, whose lower halves underflow.
template <Element T>
void FillTable(std::span<const double> position, std::span<const DoubleDouble> frequency,
               const DoubleDouble& amplitude, T* cosine, T* sine);

}  // namespace sextant::fast
