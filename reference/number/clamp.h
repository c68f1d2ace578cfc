// Functions that are composed of other functions, for every number type.
#pragma once

namespace sextant {

// x if low <= x <= high, else the nearest limit.
template <class Real>
Real Clamp(const Real& x, const Real& low, const Real& high) {
  return Less(x, low) ? low : Less(high, x) ? high : x;
}

// ln a / ln b
template <class Real>
Real LogRatio(const Real& a, const Real& b) {
  return Log(a) / Log(b);
}

}  // namespace sextant
