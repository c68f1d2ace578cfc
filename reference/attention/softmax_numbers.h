// The numbers of a row of softmax (softmax_row.h), one function for each pass over the row, in
// vectors. There are no special cases: each element has the bits of the formula in its comment,
// whatever the width of the vectors. Private to this folder.
#pragma once

#include <cstddef>
#include <span>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/double_double/double_double.h"
#include "reference/number/recipe/format_units.h"

namespace sextant {

// Scores, in the format of step softmax, and what the errors of their exponents depend on.
struct ScoreRow {
  size_t count;
  CountedNumbers scores;
  DoubleDouble largest;  // the centre of the largest score
  double largest_drift;  // its drift
  double most;           // upper bound of the largest score of every implementation
  bool exact;            // no score has an error
  bool tiled;            // Tiling::kAny
  const StepRule& rule;  // of step softmax
  double exponential;    // error of an exponential, as an error of its exponent
  FormatUnits units{rule};
};
struct ExponentRow {
  double *high, *low;  // the centre, score - largest
  double* error;       // E_j: of the exponent and its exponential
};
// Returns the largest drift of an exponent.
double SetExponents(const ScoreRow& row, const ExponentRow& to);

// Replaces each exponent high + low by its exponential (exp of double_double.h).
void SetExponentials(std::span<double> high, std::span<double> low);

// Weights p_j = term j / sum, and what their errors depend on. The members have the names of those
// of SoftmaxRow.
struct WeightRow {
  size_t count;
  CountedNumbers weights;
  const double *term_high, *term_low;
  DoubleDouble sum;
  const double *rise, *fall;
  double *shift, *rounding;  // null: not needed
  bool double_centers;       // the quotients are doubles
  double drift;              // relative; infinite if the weights are not enclosed
  double rise_sum = 0, fall_sum = 0;
  double common = 0, likely_common = 0;
  const StepRule& rule;
  double underflow = 0;  // of one term
  bool tiled;
  FormatUnits units{rule};
};
// Sets centre and drift of the weights.
void SetWeightCenters(const WeightRow& row);
// Sets shift, rounding, and the errors of the weights. Needs more than one weight.
void SetWeightErrors(const WeightRow& row);

// Level 1 in two passes over a row of more than one score. The last bits depend on the width of
// vectors.
struct Range {
  double least, most;
};
Range RangeOf(std::span<const double> numbers);

struct TermRow {
  double* term;         // e^exponent
  double *rise, *fall;  // e^E_j - 1, 1 - e^-E_j, rounded up
};
struct TermTotals {
  DoubleDouble sum{};         // of the terms
  double rounding = 0;        // bound of the error of the sum
  double rise = 0, fall = 0;  // upper bounds of the sums of term times rise, term times fall
  double drift = 0;           // the largest of an exponent, as a double
  bool valid = true;          // else an error or a drift is too large for this
};
// The exponents are between -600 and 1.
TermTotals SetTermsOfDoubles(const ScoreRow& row, const TermRow& to);

// Sets the weights term / sum, their drift and errors. row.term_low is not read.
void SetWeightsOfDoubles(const WeightRow& row);

}  // namespace sextant
