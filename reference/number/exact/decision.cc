#include "reference/number/exact/decision.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/number/rounded/rounded.h"

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

namespace {

// The usual case of Decide for one type: the centre and its rounding are normal numbers, and the
// centre is not a tie, so that value does not depend on the sign of the rest.
struct UsualDecision {
  explicit UsualDecision(DType type)
      : least_exponent(std::max(GridOf(type).min_exponent, -900)),
        most_exponent(std::min(GridOf(type).max_exponent, 900)),
        dropped(53 - GridOf(type).precision) {}

  enum class Result { kDecided, kUndecided, kOnlyDecideKnows };
  // What Decide returns; if the number is decided, it is in `to`.
  Result operator()(const Counted& x, Decision& to) const {
    const auto [high, rest] = x.center();
    const int exponent = ExponentOf(high);
    if (exponent < least_exponent || exponent >= most_exponent) return Result::kOnlyDecideKnows;
    const double drift = x.drift() * (1 + 0x1p-50) + std::abs(rest) * (x.drift() > 0 ? 0x1p-51 : 0);
    const double least = rest - drift, most = rest + drift;
    if (high + least != high || high + most != high) return Result::kUndecided;
    const double units = PowerOfTwo(72 - exponent);  // of low, in 1
    const double low = Nearest(least * units);
    if (low != Nearest(most * units)) return Result::kOnlyDecideKnows;
    const auto bits = std::bit_cast<uint64_t>(high);
    const uint64_t half = (uint64_t{1} << dropped) >> 1, below = (uint64_t{1} << dropped) - 1;
    if (dropped > 0 && (bits & below) == half) return Result::kOnlyDecideKnows;
    to = {std::bit_cast<double>((bits + half) & ~below), high, low * PowerOfTwo(exponent - 72)};
    return Result::kDecided;
  }

  int least_exponent, most_exponent, dropped;
};

}  // namespace

size_t DecideAll(std::span<const Counted> numbers, DType type, const DecidedRun& to) {
  const UsualDecision usual(type);
  size_t undecided = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    Decision found;
    const auto result = usual(numbers[i], found);
    bool decided = result == UsualDecision::Result::kDecided;
    if (result == UsualDecision::Result::kOnlyDecideKnows) {
      const auto decision = Decide(numbers[i], type);
      decided = decision.has_value();
      if (decided) found = *decision;
    }
    to.value[i] = found.value;
    to.high[i] = found.high;
    to.low[i] = found.low;
    to.radius[i] = decided ? 0 : kInfinity;
    undecided += !decided;
  }
  return undecided;
}

}  // namespace sextant
