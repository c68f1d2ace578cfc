// The number that a measured formula decides by: the sign of x, the larger of two.
#pragma once

#include "oracle/defect/defect.h"

namespace sextant::oracle {

inline double NumberIn(double x) { return x; }
inline double NumberIn(const Rounded& x) { return x.value(); }
inline double NumberIn(const Counted& x) { return x.center().high; }

// a < b, in every number type: those that prove compare their enclosures.
template <class Real>
bool IsLess(const Real& a, const Real& b) {
  if constexpr (requires { Less(a, b); }) {
    return Less(a, b);
  } else {
    return NumberIn(a) < NumberIn(b);
  }
}

}  // namespace sextant::oracle
