#include "reference/number/decision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr double kLeast = 0x1p-900, kMost = 0x1p900;  // of numbers in double-double

// The integer nearest to x, ties to even; |x| <= 2^51.
double Nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// The decision for high + rest; `high` is RN64 of it and has a magnitude from kLeast to kMost.
Decision DecisionFor(DType type, double high, double rest) {
  const double unit = UnitOfLow(high);
  const int side = (rest > 0) - (rest < 0);
  return MakeDecision(type, high, Nearest(rest / unit) * unit, side);
}

}  // namespace

double UnitOfLow(double high) {
  return std::max(UlpOf(DType::kF64, high) * 0x1p-20, std::numeric_limits<double>::denorm_min());
}

Decision MakeDecision(DType type, double high, double low, int side) {
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  const double value = RoundTo(type, DoubleDouble{high, side * kSmallest});
  return {value + 0.0, high + 0.0, low + 0.0};  // -0 becomes +0
}

// Rounding is monotone: if both ends have the same decision, every number between them has it.
std::optional<Decision> Decide(const Counted& x, DType type) {
  const auto [high, rest] = x.center();
  if (x.drift() == 0 && high == 0 && rest == 0) return MakeDecision(type, 0, 0, 0);
  if (!(std::abs(high) >= kLeast && std::abs(high) <= kMost)) return std::nullopt;
  const double drift = x.drift() * (1 + 0x1p-50) + std::abs(rest) * (x.drift() > 0 ? 0x1p-51 : 0);
  const double least = rest - drift, most = rest + drift;  // drift covers these two roundings
  if (high + least != high || high + most != high) return std::nullopt;
  const Decision below = DecisionFor(type, high, least);
  if (x.drift() > 0 && below != DecisionFor(type, high, most)) return std::nullopt;
  return below;
}

}  // namespace sextant
