// Fast tables of cos and sin whose columns belong to several axes: rope_sections, rope_axial.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {

// Fills some columns of a table of `width` pairs. The entry in row r, column columns[i] is the T
// nearest to amplitude * cos(coordinate[r] * frequency[i]), and the same with sin.
//   coordinate  any doubles. If all are integers, FillTable computes the entries. Otherwise they
//               are computed in double-double: the error of an entry before rounding is at most 13
//               units of 2^-106, plus the angle times the relative error of the frequency
//   frequency   radians per unit of the coordinate
template <Element T>
void FillAxis(std::span<const double> coordinate, const Frequencies& frequencies,
              std::span<const size_t> columns, size_t width, T* cosine, T* sine) {
  const std::vector<DoubleDouble>& frequency = frequencies.of_pair;
  const size_t n = frequency.size();
  std::vector<T> axis_cosine(coordinate.size() * n), axis_sine(axis_cosine.size());
  const bool integers = std::ranges::all_of(
      coordinate, [](double c) { return c == std::floor(c) && std::abs(c) <= 0x1p53; });
  if (integers) {
    FillTable<T>(coordinate, frequency, frequencies.amplitude, axis_cosine.data(),
                 axis_sine.data());
  } else {
    for (size_t i = 0; i < axis_cosine.size(); ++i) {
      const SineCosine cos_sin = SinCos(frequency[i % n] * coordinate[i / n]);
      axis_cosine[i] = FromDoubleDouble<T>(cos_sin.cosine * frequencies.amplitude);
      axis_sine[i] = FromDoubleDouble<T>(cos_sin.sine * frequencies.amplitude);
    }
  }
  for (size_t i = 0; i < axis_cosine.size(); ++i) {
    const size_t at = i / n * width + columns[i % n];
    cosine[at] = axis_cosine[i];
    sine[at] = axis_sine[i];
  }
}

}  // namespace sextant::fast
