// The logarithm of an empty sum, -infinity: what lse is where a query sees no key.
#pragma once

#include <cmath>
#include <limits>

#include "reference/number/boost_real.h"
#include "reference/number/counted.h"
#include "reference/number/interval.h"
#include "reference/number/rounded.h"

namespace sextant {

// As an output. An Interval encloses numbers: one below every double is rounded to -infinity. Of a
// Counted nothing but its error counts, which is 0.
template <class Real>
Real EmptyLogSumExp() {
  return Real(-std::numeric_limits<double>::infinity());
}
template <>
inline Interval EmptyLogSumExp<Interval>() {
  return Interval(-0x1p1023) * Interval(0x1p1023);
}
template <>
inline Counted EmptyLogSumExp<Counted>() {
  return Counted(0.0);
}

// The double that an input is.
inline double ValueOf(double x) { return x; }
inline double ValueOf(const Interval& x) { return mpfr_get_d(x.lower().get(), MPFR_RNDN); }
inline double ValueOf(const Counted& x) { return x.center().high; }
inline double ValueOf(const Rounded& x) { return x.value(); }
inline double ValueOf(const BoostReal& x) { return x.High(); }

// Of an input.
template <class Real>
bool IsLogOfNothing(const Real& x) {
  return ValueOf(x) == -std::numeric_limits<double>::infinity();
}

}  // namespace sextant
