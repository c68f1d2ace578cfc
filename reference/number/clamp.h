// Functions that are composed of other functions, for every number type.
#pragma once

#include "reference/number/exact/interval.h"

namespace sextant {

template <class Real>
Real Max(const Real& a, const Real& b) {
  return Less(a, b) ? b : a;
}

// x if low <= x <= high, else the nearest limit.
template <class Real>
Real Clamp(const Real& x, const Real& low, const Real& high) {
  return Less(x, low) ? low : Less(high, x) ? high : x;
}

// Where x overlaps a limit, either branch gives the same.
inline Interval Clamp(const Interval& x, const Interval& low, const Interval& high) {
  return Max(low, -Max(-x, -high));
}

// ln a / ln b
template <class Real>
Real LogRatio(const Real& a, const Real& b) {
  return Log(a) / Log(b);
}

}  // namespace sextant
