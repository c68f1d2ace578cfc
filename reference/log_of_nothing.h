// The logarithm of an empty sum, -infinity: what lse is where a query sees no key.
#pragma once

#include <cmath>
#include <limits>

#include "reference/counted.h"
#include "reference/interval.h"
#include "reference/rounded.h"
#include "reference/wide.h"

namespace sextant {

// As an output. An Interval encloses numbers: one below every double is rounded to -infinity. Of a
// Counted nothing but its error counts, which is 0.
template <class Real>
Real LogOfNothing() {
  return Real(-std::numeric_limits<double>::infinity());
}
template <>
inline Interval LogOfNothing<Interval>() {
  return Interval(-0x1p1023) * Interval(0x1p1023);
}
template <>
inline Counted LogOfNothing<Counted>() {
  return Counted(0.0);
}

// Of an input.
inline bool IsLogOfNothing(const Interval& x) {
  return mpfr_inf_p(x.lower().get()) && mpfr_sgn(x.upper().get()) < 0;
}
inline bool IsLogOfNothing(double x) { return x == -std::numeric_limits<double>::infinity(); }
inline bool IsLogOfNothing(const Counted& x) { return IsLogOfNothing(x.center().high); }
inline bool IsLogOfNothing(const Rounded& x) { return IsLogOfNothing(x.value()); }
inline bool IsLogOfNothing(const Wide& x) { return IsLogOfNothing(x.High()); }

}  // namespace sextant
