// The functions of a Counted: roots, exponentials, logarithms, powers, circular functions, and
// those of activations. Each charges the effect of its operand's error, and the error of an
// implementation of the function itself.
#pragma once

#include <utility>

#include "reference/number/counted/counted.h"

namespace sextant {

Counted Sqrt(const Counted& a);
Counted Exp(const Counted& a);
Counted Log(const Counted& a);
Counted Power(const Counted& base, const Counted& exponent);  // base > 0
std::pair<Counted, Counted> CosSin(const Counted& angle);

Counted Tanh(const Counted& a);
Counted Erf(const Counted& a);
Counted Erfc(const Counted& a);
Counted Sigmoid(const Counted& a);  // 1 / (1 + e^-a)

}  // namespace sextant
