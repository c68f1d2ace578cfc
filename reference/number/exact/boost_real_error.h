// The error bound of a BoostReal: its distance from the real number of the formula. Every operation
// propagates the bound, so the accuracy of a second opinion is known.
//
// Assumptions on Boost.Multiprecision 1.74: the documentation of cpp_bin_float guarantees that
// + - * / are rounded to nearest, so each of them errs by at most 2^-334 of its result. It
// guarantees nothing for functions. Their error is assumed to be below 2^-300 of the result, and of
// the size of the argument where they reduce it: 2^34 units in the last place, far more than the
// few units that implementations of this kind lose. All other bounds are derived where they are
// used (boost_real.cc).
#pragma once

#include "reference/number/exact/boost_real.h"

namespace sextant {

// Bound of |x - the real number of the formula|; infinite if no bound is known. A long double has
// the exponent range for squares and quotients of doubles.
long double ErrorOf(const BoostReal& x);

// |x - (high + low)|, with a relative error of at most 2^-60.
long double DistanceOf(const BoostReal& x, double high, double low);

}  // namespace sextant
