// The units of a format, for bounds of rounding errors.
#pragma once

#include <optional>

#include "reference/number/recipe/recipe.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// Unit roundoff: half an ulp of 1.
inline double UnitRoundoffOf(DType format) { return PowerOfTwo(-GridOf(format).precision); }
inline double MinNormal(DType format) { return PowerOfTwo(GridOf(format).min_exponent); }
// The error that underflow may add to a number of the rule's format.
inline double UnderflowErrorOf(const StepRule& rule) {
  return rule.flushes ? MinNormal(rule.format) : MinSubnormal(rule.format);
}

// The format of a step's results; empty if the step is exact.
inline std::optional<DType> FormatOf(const StepRule& rule) {
  return rule.exact ? std::nullopt : std::optional(rule.format);
}

// Covers the rounding errors of a bound that is computed in about ten operations.
inline constexpr double kBoundUp = 1 + 0x1p-40;

}  // namespace sextant
