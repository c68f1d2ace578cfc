#include "reference/number/rounded/stochastic_rounding.h"

#include <bit>
#include <cmath>

#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

// A pseudorandom bit of x and the seed. Source of the multipliers: Steele, Lea and Flood 2014,
// "Fast splittable pseudorandom number generators", OOPSLA.
bool GoesUp(uint64_t seed, const DoubleDouble& x) {
  uint64_t z = (std::bit_cast<uint64_t>(x.high) ^ (seed * 0x9e3779b97f4a7c15)) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30) ^ std::bit_cast<uint64_t>(x.low)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z >> 63 != 0;
}

}  // namespace

double StochasticallyRounded(DType type, const DoubleDouble& x, double y) {
  const double off = (x.high - y) + x.low;  // x.high - y is exact: y is near
  const auto& seed = this_context.rounding_seed;
  if (!seed || !std::isfinite(off)) return y;
  const bool up = GoesUp(*seed, x);
  if (up == (off < 0)) return y;
  return up ? NextUp(type, y) : NextDown(type, y);
}

}  // namespace sextant
