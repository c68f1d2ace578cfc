// How far a BoostReal may be from the real number that its formula means: a bound that is carried
// along with every operation, so that a second opinion knows how much its word is worth.
//
// What is assumed of Boost.Multiprecision 1.74: its documentation of cpp_bin_float promises that
// + - * / are rounded to nearest, so one of them errs by at most 2^-334 of its result. It promises
// nothing of functions; their error is taken to be below 2^-300 of what they return, and of the
// size of the argument where they reduce it: 2^34 units in the last place, far more than the few
// that implementations of this kind lose. Everything else is derived where it is used (wide.cc).
#pragma once

#include "reference/number/boost_real.h"

namespace sextant {

// A bound of |x - the real number that x stands for|; infinite where none is known. A long double
// has the exponents that squares and quotients of doubles need.
long double ErrorOf(const BoostReal& x);

// |x - (high + low)|, within 2^-60 of itself.
long double DistanceOf(const BoostReal& x, double high, double low);

}  // namespace sextant
