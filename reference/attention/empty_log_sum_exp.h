// The empty log-sum-exp: lse of a query without visible keys, -infinity.
#pragma once

#include <limits>

#include "reference/number/value_of.h"

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

// Whether an input is the empty log-sum-exp.
template <class Real>
bool IsEmptyLogSumExp(const Real& x) {
  return ValueOf(x) == -std::numeric_limits<double>::infinity();
}

}  // namespace sextant
