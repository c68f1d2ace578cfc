// Stochastic rounding: Rounded numbers are rounded up or down at random, to measure the combined
// effect of many roundings.
//
// A number that is not a value of the step's format becomes one of its two neighbours, both with
// equal probability, for any accuracy that a recipe claims for functions. Values of the format do
// not change. For one seed the same number in the same format is always rounded in the same
// direction, as in an implementation. Rounding to nearest has at most half the standard deviation.
// In products with weights, long sums get one random error instead (rounded_dot.h).
// Source: Vignes 2004, "Discrete stochastic
// arithmetic for validating results of numerical software", Numerical Algorithms 37 (CESTAC).
#pragma once

#include "reference/number/double_double/double_double.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// Rounds x stochastically, where y != x is the value of `type` nearest to x. Returns y unless this
// thread is in a ScopedStochasticRounding (reference/number/recipe/evaluation_context.h); the
// direction depends on its seed. Steps in f64 are not affected: their operations in double have
// rounded already.
double StochasticallyRounded(DType type, const DoubleDouble& x, double y);

}  // namespace sextant
