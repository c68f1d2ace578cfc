// The numbers of a rule's format that vectors need to bound its rounding errors
// (rounding_vectors-inl.h).
#pragma once

#include <cmath>

#include "reference/number/recipe/rounding_units.h"

namespace sextant {

struct FormatUnits {
  explicit FormatUnits(const StepRule& rule)
      : least(MinNormal(rule.format)),
        half(UnitRoundoffOf(rule.format)),
        overflow(OverflowOf(rule.format)),
        is_f64(rule.format == DType::kF64),
        flushes(rule.flushes) {}

  // The midpoint beyond the largest number is a tie, which is even in f8_e4m3fn.
  static double OverflowOf(DType format) {
    const double tie = MaxFinite(format) + UlpOf(format, MaxFinite(format)) / 2;
    return std::isfinite(RoundTo(format, tie)) ? std::nextafter(tie, kInfinity) : tie;
  }

  double least;     // the smallest normal number
  double half;      // half an ulp of 1
  double overflow;  // numbers from here on overflow
  bool is_f64, flushes;
};

}  // namespace sextant
