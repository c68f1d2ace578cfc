// Fast tables of cos and sin, correctly rounded. The formula: reference/rope/rope_table.h.
#pragma once

#include <span>
#include <string>

#include "fast/simd/element.h"
#include "reference/case/case.h"
#include "reference/number/double_double/double_double.h"

namespace sextant::fast {

// cosine, sine [position, frequency]: the T nearest to amplitude * cos(position * frequency), and
// the same with sin.
//   position   integers of at most 2^53 in magnitude, any order
//   frequency  radians per token; frequency and amplitude are taken as exact
// Entries with |position * frequency| > 2^53 are NaN.
// Most entries are products of two rows (position = coarse + fine) in double; a proven error bound
// decides their rounding. Double-double arithmetic decides nearly all other entries, and f64. The
// rest, next to zeros of the function and for amplitudes below 2^-900 or above 2^900, is computed
// in wide fixed point (fast/rope/precise_cos_sin.h).
template <Element T>
void FillTable(std::span<const double> position, std::span<const DoubleDouble> frequency,
               const DoubleDouble& amplitude, T* cosine, T* sine);

// Why kernels of tables do not support the case: the dtypes of its outputs. Those of frequencies
// are free, they are read as doubles.
std::string DeclinesTwoTypes(const Case& c);

}  // namespace sextant::fast
