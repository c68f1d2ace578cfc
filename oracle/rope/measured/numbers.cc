#include "oracle/rope/measured/numbers.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {
namespace {

int DigitsIn(const LongRange& range) {
  return FewestDigits(range.Middle(), [&](double x) { return range.Contains(x); });
}

// The ranges of v that one phase leaves of one range.
void AddSolutionsOf(long double phase, const PhaseObservation& o, const LongRange& range,
                    std::vector<LongRange>& solutions) {
  const long double most = std::max(std::abs(range.low), std::abs(range.high));
  const long double bar = o.bar + o.relative * std::abs(o.rate) * most;
  if (bar >= kHalfTurn) {
    solutions.push_back(range);
    return;
  }
  const long double a = o.rate * range.low, b = o.rate * range.high;
  const long double turn = 2 * kHalfTurn;
  const auto first = std::floor((std::min(a, b) - phase) / turn);
  const auto last = std::ceil((std::max(a, b) - phase) / turn);
  for (auto n = first; n <= last; ++n) {
    const long double v = (phase + turn * n) / o.rate, r = bar / std::abs(o.rate);
    LongRange common{v - r, v + r};
    common.Intersect(range);
    if (!common.IsEmpty()) solutions.push_back(common);
  }
}

// The ranges of v that an observation leaves of one range, in ascending order.
void AddSolutions(const PhaseObservation& o, const LongRange& range,
                  std::vector<LongRange>& solutions) {
  if (!o.twin) return AddSolutionsOf(o.phase, o, range, solutions);
  std::vector<LongRange> both;
  AddSolutionsOf(o.phase, o, range, both);
  AddSolutionsOf(*o.twin, o, range, both);
  std::ranges::sort(both, {}, &LongRange::low);
  for (const LongRange& one : both) {
    const bool meets = &one != &both[0] && one.low <= solutions.back().high;
    if (meets)
      solutions.back().high = std::max(solutions.back().high, one.high);
    else
      solutions.push_back(one);
  }
}

long double TurnsIn(const PhaseObservation& o, const std::vector<LongRange>& ranges) {
  long double turns = 0;
  for (const LongRange& r : ranges)
    turns += 2 + std::abs(o.rate) * (r.high - r.low) / (2 * kHalfTurn);
  return turns;
}

}  // namespace

double SimplestRatioIn(const LongRange& range) {
  if (range.low <= 0 && range.high >= 0) return SimplestIn(range);
  constexpr int kFew = 3;
  for (const double turn : {2 * std::numbers::pi, 1 / (2 * std::numbers::pi)})
    if (range.Contains(turn) && DigitsIn(range) > kFew) return turn;
  const LongRange reciprocal{1 / range.high, 1 / range.low};
  const double whole = SimplestIn(reciprocal);
  const bool is_simpler = whole == std::round(whole) && DigitsIn(reciprocal) < DigitsIn(range);
  return is_simpler && range.Contains(1 / whole) ? 1 / whole : SimplestIn(range);
}

bool HasFewDigits(double x, int digits) { return RoundedToDigits(x, digits) == x; }

bool IsNearPowerOfTwo(double x) {
  for (const double near : {std::abs(x) - 1, std::abs(x), std::abs(x) + 1}) {
    int exponent = 0;
    if (near >= 16 && std::frexp(near, &exponent) == 0.5) return true;
  }
  return false;
}

bool IsPlain(double value) {
  constexpr int kFew = 4;
  return value == std::floor(value) || HasFewDigits(value, kFew) || HasFewDigits(1 / value, 2) ||
         IsNearPowerOfTwo(1 / value);
}

std::string MeasuredText(double value, const LongRange& range) {
  // In a wide range, a number with few digits may be an accident; and it is one of several if a
  // neighbour with as few is in the range, too. 0 is compared with 1.
  constexpr long double kWide = 0.2L;
  const int digits = FewestDigits(value, [=](double x) { return x == value; });
  const long double size = value == 0 ? 1 : std::abs(value), width = range.high - range.low;
  const long double step = std::pow(10.0L, std::floor(std::log10(size)) + 1 - digits);
  const bool is_alone = !range.Contains(value + step) && !range.Contains(value - step);
  if (IsPlain(value) && (width == 0 || (is_alone && width <= kWide * size))) return Phrase(value);
  return Phrase(value, " +- ", RoundedToDigits(width / 2, 1));
}

bool PhaseObservation::Fits(long double v) const {
  const long double angle = rate * v;
  // Of long double: rate, v, their product.
  const long double most = bar + (relative + 0x1p-61L) * std::abs(angle);
  const auto is_near = [&](long double one) {
    return std::abs(std::remainder(one - angle, 2 * kHalfTurn)) <= most;
  };
  return bar >= 0 && (is_near(phase) || (twin && is_near(*twin)));
}

std::vector<LongRange> CommonSolutions(std::vector<PhaseObservation> observations,
                                       const LongRange& range, size_t most) {
  std::ranges::sort(observations, {}, [](const auto& o) { return std::abs(o.rate); });
  std::vector<LongRange> ranges = {range};
  for (int pass = 0; pass < 2; ++pass) {
    for (const PhaseObservation& o : observations) {
      if (TurnsIn(o, ranges) > static_cast<long double>(most)) continue;
      std::vector<LongRange> solutions;
      for (const LongRange& r : ranges) AddSolutions(o, r, solutions);
      ranges = std::move(solutions);
    }
  }
  return ranges;
}

}  // namespace sextant::oracle
