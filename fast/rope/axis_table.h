// Tables of cos and sin whose columns belong to several axes, for speed: rope_sections, rope_axial.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {

// Columns of a table of `width` pairs: column columns[i] of row r is T nearest to
// amplitude * cos(coordinate[r] * frequency[i]), and sin.
//   coordinate  any doubles; integers are FillTable's. Others are computed in double-double: before
//               it is rounded an entry is off by at most 13 units of 2^-106, and by the angle times
//               the relative error of the frequency
//   frequency   radians per unit of the coordinate
template <Element T>
void FillAxis(std::span<const double> coordinate, const Frequencies& frequencies,
              std::span<const size_t> columns, size_t width, T* cosine, T* sine) {
  const std::vector<DoubleDouble>& frequency = frequencies.of_pair;
  const size_t n = frequency.size();
  std::vector<T> own_cosine(coordinate.size() * n), own_sine(own_cosine.size());
  const bool integers = std::ranges::all_of(
      coordinate, [](double c) { return c == std::floor(c) && std::abs(c) <= 0x1p53; });
  if (integers) {
    FillTable<T>(coordinate, frequency, frequencies.amplitude, own_cosine.data(), own_sine.data());
  } else {
    for (size_t i = 0; i < own_cosine.size(); ++i) {
      const SineCosine turn = SinCos(frequency[i % n] * coordinate[i / n]);
      own_cosine[i] = FromDoubleDouble<T>(turn.cosine * frequencies.amplitude);
      own_sine[i] = FromDoubleDouble<T>(turn.sine * frequencies.amplitude);
    }
  }
  for (size_t i = 0; i < own_cosine.size(); ++i) {
    const size_t at = i / n * width + columns[i % n];
    cosine[at] = own_cosine[i];
    sine[at] = own_sine[i];
  }
}

}  // namespace sextant::fast
