// The numbers of a rule's format that vectors need to bound its rounding errors
// (rounding_vectors-inl.h).
#pragma once

#include "reference/number/recipe/rounding_units.h"

namespace sextant {

struct FormatUnits {
  explicit FormatUnits(const StepRule& rule)
      : least(MinNormal(rule.format)),
        half(UnitRoundoffOf(rule.format)),
        overflow(MaxFinite(rule.format) + UlpOf(rule.format, MaxFinite(rule.format)) / 2),
        is_f64(rule.format == DType::kF64),
        flushes(rule.flushes) {}

  double least;     // the smallest normal number
  double half;      // half an ulp of 1
  double overflow;  // numbers from here on round to infinity
  bool is_f64, flushes;
};

}  // namespace sextant
