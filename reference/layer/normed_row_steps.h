// What the steps of a normed row need to know of numbers and formats. Private to this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/number/counted/counted.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

inline StepRule RuleOf(Step step) {
  const ScopedStep at(step);
  return CurrentRule();
}

inline double UnitRoundoffOf(const StepRule& rule) {
  return rule.exact ? 0 : UnitRoundoffOf(rule.format);
}
inline double UnderflowOf(const StepRule& rule) { return rule.exact ? 0 : UnderflowErrorOf(rule); }
inline double LargestOf(const StepRule& rule) {
  return rule.exact ? std::numeric_limits<double>::max() : MaxFinite(rule.format);
}

// Factor that rounds a computed bound down; kBoundUp rounds it up.
inline constexpr double kBoundDown = 1 - 0x1p-40;

// Upper bound of |x|.
inline double MagnitudeOf(const Counted& x) {
  return std::abs(x.center().high) * kBoundUp + x.drift();
}
// Lower bound of sqrt(x).
inline double LeastRootOf(const Counted& x) {
  return std::sqrt(std::max(0.0, x.center().high * kBoundDown - x.drift())) * kBoundDown;
}

// True if conversion to the format of the rule changes nothing but the format.
inline bool IsValueOf(const StepRule& rule, const Counted& x) {
  return rule.exact || (!rule.flushes && x.format() && Contains(rule.format, *x.format()));
}

// Counted::IsOrdinaryFactor, quickly; false also for a few numbers that are ordinary.
// `spread`: its error and drift.
inline bool IsOrdinary(double high, double spread) {
  const bool has_fraction = std::bit_cast<uint64_t>(high) << 12 != 0 && ExponentOf(high) > -1023;
  return std::isfinite(high) && std::isfinite(spread) && (spread > 0 || has_fraction);
}
inline bool IsOrdinary(const Counted& x) {
  return IsOrdinary(x.center().high, x.error() + x.drift()) && !x.saturated();
}

}  // namespace sextant
