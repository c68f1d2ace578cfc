// Stochastic rounding: Rounded numbers rounded up or down by chance, to see how roundings act
// together.
//
// What is no value of the step's format becomes one of its two neighbours, each as often as the
// other, whatever accuracy a recipe claims for functions. What needs no rounding gets none. The
// same number in the same format is always rounded the same way, as implementations do. Roundings
// to nearest have half the standard deviation or less. Source: Vignes 2004, "Discrete stochastic
// arithmetic for validating results of numerical software", Numerical Algorithms 37 (CESTAC).
#pragma once

#include "reference/number/double_double.h"
#include "reference/number/dtype.h"

namespace sextant {

// What x becomes whose nearest value of `type` is y, another number: y unless this thread is in a
// ScopedStochasticRounding (reference/number/evaluation_context.h), which rounds in another way for
// every seed. Steps in f64 are left out: there roundings of doubles are not seen.
double StochasticallyRounded(DType type, const DoubleDouble& x, double y);

}  // namespace sextant
