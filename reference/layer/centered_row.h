// Level 1 of a row of layer_norm: its sum; the row less its mean, with the sum of its squares; the
// addition of the bias. Each is one pass of vectors over numbers that behave as Counted. Not the
// same bits: sums are added in lanes, and the centres of squares are doubles.
#pragma once

#include <span>

#include "reference/number/counted/counted.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {

// The sum of exact numbers in step sum, before its rounding.
CountedSum SumOfExact(const ExactSpan& x);

// The rules of steps center and square.
struct CenterRules {
  const StepRule &center, &square;
};
// Sums over the numbers c of a row, with errors e.
struct CenteredSums {
  CountedSum squares;        // in step sum, before its rounding
  double largest = 0;        // upper bound of all |c| + e
  double error_squares = 0;  // sum of e^2
  double changes = 0;        // sum of (2 |c| + e) e
};
// Sets `to` to x + shift in step center, and `sizes` to upper bounds of the magnitudes of the
// centres. Requires rules that do not flush, values x and `shift` of the format of step center, a
// drift of `shift` that is not 0, and that step square need not convert the results.
CenteredSums CenterRow(const ExactSpan& x, const Counted& shift, const CenterRules& rules,
                       const CountedNumbers& to, std::span<double> sizes);

// Replaces each number y by y + b in a step whose rule does not flush; b are values of its format.
// False, without changes, if some y has a drift of 0.
bool AddExact(std::span<const double> b, const StepRule& rule, const CountedSpan& y);

// Private to centered_row.cc: what its vectors read, and what they add up (the members of a
// CountedSum and of CenteredSums).
struct RowToCenter {
  const double* x;
  CountedNumbers shift;  // one number
  const CenterRules& rules;
  CountedNumbers to;
  double* sizes;
};
struct RowSums {
  DoubleDouble center{};
  double rounding = 0, error = 0, likely = 0, drift = 0, size = 0;
  double largest = 0, error_squares = 0, changes = 0;
};

}  // namespace sextant
