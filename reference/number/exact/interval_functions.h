// The functions of an Interval: roots, exponentials, logarithms, powers, circular functions, and
// those of activations. Each result encloses the values of the function for every number in the
// operand. It is not specified if the operand is not. Contracts: reference/number/exact/interval.h.
#pragma once

#include <cstdint>
#include <utility>

#include "reference/number/exact/interval.h"

namespace sextant {

Interval Sqrt(const Interval& a);
Interval Exp(const Interval& a);
Interval Exp2(const Interval& a);
Interval Log(const Interval& a);
std::pair<Interval, Interval> CosSin(const Interval& a);
Interval EnclosePower(double base, int64_t p, int64_t q);
Interval EnclosePower(const Interval& base, int64_t p, int64_t q);
Interval LogRatio(const Interval& a, const Interval& b);
Interval TwoPiOf(const Interval*);

Interval Tanh(const Interval& a);
Interval Erf(const Interval& a);
Interval Erfc(const Interval& a);
Interval Sigmoid(const Interval& a);

}  // namespace sextant
