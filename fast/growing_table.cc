#include "fast/growing_table.h"

#include <cmath>
#include <vector>

#include "fast/rope_table.h"

namespace sextant::fast {
namespace {

// x of about `amplitude`, known within 2^-51 of it (a table's half ulp, the amplitude's and the
// product's, 2^-53 each, and the margin of this very test), rounded to T; false if that does not
// decide it.
template <Element T>
bool Decided(double x, double amplitude, T& rounded) {
  const double error = std::abs(amplitude) * 0x1p-51;
  rounded = FromDouble<T>(x - error);
  return ToDouble(rounded) == ToDouble(FromDouble<T>(x + error));
}

// 0 stays 0, and what does not fit a double is infinite.
DoubleDouble Product(const DoubleDouble& turn, const DoubleDouble& amplitude) {
  if (turn.high == 0) return 0.0;
  const DoubleDouble product = turn * amplitude;
  return std::isfinite(product.high) ? product : DoubleDouble(turn.high * amplitude.high);
}

}  // namespace

template <Element T>
void FillGrowingTable(std::span<const double> position, double center,
                      std::span<const Spiral> spirals, T* cosine, T* sine) {
  const size_t n = spirals.size();
  std::vector<DoubleDouble> frequency;
  for (const Spiral& spiral : spirals) frequency.push_back(spiral.frequency);
  std::vector<double> unit_cosine, unit_sine;
  if constexpr (!std::same_as<T, double>) {
    unit_cosine.resize(position.size() * n);
    unit_sine.resize(unit_cosine.size());
    FillTable<double>(position, frequency, 1.0, unit_cosine.data(), unit_sine.data());
  }
  for (size_t i = 0; i < position.size() * n; ++i) {
    const double p = position[i / n];
    const DoubleDouble amplitude = exp(spirals[i % n].growth * TwoSum(p, -center));
    if constexpr (!std::same_as<T, double>) {
      const double a = amplitude.high;
      if (Decided(unit_cosine[i] * a, a, cosine[i]) && Decided(unit_sine[i] * a, a, sine[i]))
        continue;
    }
    const SineCosine turn = SinCos(frequency[i % n] * p);
    cosine[i] = FromDoubleDouble<T>(Product(turn.cosine, amplitude));
    sine[i] = FromDoubleDouble<T>(Product(turn.sine, amplitude));
  }
}

template void FillGrowingTable(std::span<const double>, double, std::span<const Spiral>, double*,
                               double*);
template void FillGrowingTable(std::span<const double>, double, std::span<const Spiral>, float*,
                               float*);
template void FillGrowingTable(std::span<const double>, double, std::span<const Spiral>, F16*,
                               F16*);
template void FillGrowingTable(std::span<const double>, double, std::span<const Spiral>, BF16*,
                               BF16*);

}  // namespace sextant::fast
