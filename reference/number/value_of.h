// The double that a number of any number type is, or a double next to it.
#pragma once

#include "reference/number/counted/counted.h"
#include "reference/number/exact/boost_real.h"
#include "reference/number/exact/interval.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {

// Exact for an input and what was set to a double, NaN and infinities too.
inline double ValueOf(double x) { return x; }
inline double ValueOf(const Interval& x) { return mpfr_get_d(x.lower().get(), MPFR_RNDN); }
inline double ValueOf(const Counted& x) { return x.center().high; }
inline double ValueOf(const Rounded& x) { return x.value(); }
inline double ValueOf(const BoostReal& x) { return x.High(); }

}  // namespace sextant
