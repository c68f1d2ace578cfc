// The sum of the squares of a row in vectors: the same bits as the squares and the sum of Counted,
// except for the last bits of the sum's centre and drift.
#pragma once

#include <optional>
#include <span>

#include "reference/number/counted/counted.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {

// The sum in step sum, before its rounding. Empty if a number is a special case, if a step flushes,
// or if the squares are not values of step sum's format.
std::optional<CountedSum> SumOfPlainSquares(std::span<const Counted> x, const StepRule& square,
                                            const StepRule& sum);
// The same in the arrays of `memory`, which has as many numbers.
std::optional<CountedSum> SumOfPlainSquares(const CountedSpan& x, const StepRule& square,
                                            const StepRule& sum, CountedArrays& memory);

// Level 1, of exact and finite numbers, in one pass. The last bits depend on the width of vectors.
struct SquaresOfExact {
  DoubleDouble center{};
  double rounding = 0, error = 0, size = 0;  // as in CountedSum
  double largest = 0;                        // upper bound of all |x|
};
// Sets `sizes` to upper bounds of |x|. Empty where SumOfPlainSquares is, and for squares that may
// not be exact doubles.
std::optional<SquaresOfExact> SumOfExactSquares(const ExactSpan& x, const StepRule& square,
                                                const StepRule& sum, std::span<double> sizes);

}  // namespace sextant
