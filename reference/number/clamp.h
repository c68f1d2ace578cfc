// Functions of formulas that are written with others alone, for every number type.
#pragma once

namespace sextant {

// x if low <= x <= high, else the nearer limit.
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
