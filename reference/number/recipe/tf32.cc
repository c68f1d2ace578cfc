#include "reference/number/recipe/tf32.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace sextant {
namespace {

constexpr int kLostBits = 24 - kTf32Bits;
constexpr int kLeastExponent = -126;
// Half an ulp beyond the largest number: a tie, which is rounded to infinity.
constexpr double kOverflow = 0x1.ffep127;

}  // namespace

double FactorOf(Factors factors, double x) {
  if (factors == Factors::kWhole || !std::isfinite(x)) return x;
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(x));
  if (factors == Factors::kTf32) bits += uint32_t{1} << (kLostBits - 1);
  return std::bit_cast<float>(bits >> kLostBits << kLostBits);
}

double FactorError(Factors factors, double most) {
  if (factors == Factors::kWhole || most == 0) return 0;
  const bool nearest = factors == Factors::kTf32;
  if (!(nearest ? most < kOverflow : std::isfinite(most))) return kInfinity;
  const double ulp = PowerOfTwo(std::max(ExponentOf(most), kLeastExponent) - (kTf32Bits - 1));
  return std::min(most, nearest ? ulp / 2 : ulp);
}

double RelativeFactorError(Factors factors) {
  if (factors == Factors::kWhole) return 0;
  return factors == Factors::kTf32 ? PowerOfTwo(-kTf32Bits) : PowerOfTwo(1 - kTf32Bits);
}

}  // namespace sextant
