// The empty log-sum-exp: lse of a query without visible keys, -infinity.
#pragma once

#include <cmath>
#include <limits>

#include "reference/number/counted/counted.h"
#include "reference/number/exact/boost_real.h"
#include "reference/number/exact/interval.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {

// The value of the output. An Interval cannot be -infinity: it is a number below every double,
// which rounds to -infinity. The centre of a Counted is -infinity, which no
// drift encloses: the element is left to Interval. Its error is 0.
template <class Real>
Real EmptyLogSumExp() {
  return Real(-std::numeric_limits<double>::infinity());
}
template <>
inline Interval EmptyLogSumExp<Interval>() {
  return Interval(-0x1p1023) * Interval(0x1p1023);
}

// The value of an input, which is a double in every number type.
inline double ValueOf(double x) { return x; }
inline double ValueOf(const Interval& x) { return mpfr_get_d(x.lower().get(), MPFR_RNDN); }
inline double ValueOf(const Counted& x) { return x.center().high; }
inline double ValueOf(const Rounded& x) { return x.value(); }
inline double ValueOf(const BoostReal& x) { return x.High(); }

// Whether an input is the empty log-sum-exp.
template <class Real>
bool IsEmptyLogSumExp(const Real& x) {
  return ValueOf(x) == -std::numeric_limits<double>::infinity();
}

}  // namespace sextant
