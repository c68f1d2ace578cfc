// Stochastic rounding: Rounded numbers are rounded up or down at random, to measure the combined
// effect of many roundings.
//
// A number that is not a value of the step's format becomes one of its two neighbours, both with
// equal probability, for any accuracy that a recipe claims for functions. Values of the format do
// not change. For one seed the same number in the same format is always rounded in the same
// direction, as in an implementation. Rounding to nearest has at most half the standard deviation.
// In products with weights, long sums get one random error instead (rounded_dot.h).
// Source: Vignes 2004, "Discrete stochastic
// arithmetic for validating results of numerical software", Numerical Algorithms 37 (CESTAC).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "reference/number/double_double/double_double.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// Rounds x stochastically, where y != x is the value of `type` nearest to x. Returns y unless this
// thread is in a ScopedStochasticRounding (reference/number/recipe/evaluation_context.h); the
// direction depends on its seed. Steps in f64 are not affected: their operations in double have
// rounded already.
double StochasticallyRounded(DType type, const DoubleDouble& x, double y);

// A pseudorandom bit of x and the seed. Source of the multipliers: Steele, Lea and Flood 2014,
// "Fast splittable pseudorandom number generators", OOPSLA.
inline bool GoesUp(uint64_t seed, const DoubleDouble& x) {
  uint64_t z = (std::bit_cast<uint64_t>(x.high) ^ (seed * 0x9e3779b97f4a7c15)) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30) ^ std::bit_cast<uint64_t>(x.low)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z >> 63 != 0;
}

// The next number of f32 above or below y, or y itself if it does not move.
inline float Neighbour(float y, bool up, bool moves) {
  if (y == 0) return !moves ? y : up ? 0x1p-149f : -0x1p-149f;
  const int step = moves * (up == (y > 0) ? 1 : -1);  // no branch: both are as likely
  return std::bit_cast<float>(std::bit_cast<uint32_t>(y) + static_cast<uint32_t>(step)) + 0.0f;
}

// The same as StochasticallyRounded for f32, inline, for long loops: x rounded to nearest without a
// seed.
inline float RoundedToF32(double x, const std::optional<uint64_t>& seed) {
  const auto y = static_cast<float>(x);
  const double off = x - y;
  if (!seed || off == 0 || !std::isfinite(off)) return y;
  const bool up = GoesUp(*seed, x);
  return Neighbour(y, up, up != (off < 0));
}

}  // namespace sextant
