// The functions of activations for double-double numbers. The error bounds have the same form as in
// double_double.h: in units of 2^-106, relative to the exact result, unless a part underflows.
#pragma once

#include "reference/number/double_double/double_double.h"

namespace sextant {

// tanh a: <= 52.
DoubleDouble tanh(const DoubleDouble& a);

// 1 / (1 + e^-a): <= 32, in both tails.
DoubleDouble sigmoid(const DoubleDouble& a);

// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to a: <= 200.
DoubleDouble erf(const DoubleDouble& a);

// 1 - erf(a): <= 70 + 5 a^2 for a >= 1/4, and <= 50 below.
DoubleDouble erfc(const DoubleDouble& a);

}  // namespace sextant
