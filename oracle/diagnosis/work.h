// Work: the numbers that a computation reads and writes, as a measure of what it costs that does
// not depend on the machine. It bounds what is spent on the diagnosis of one answer.
#pragma once

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

// Every number of the inputs, once for each row of the first output: what a composite operation
// multiplies.
size_t ProductsOf(const Case& c);
// The inputs and outputs of the slice.
size_t WorkOf(const Case& c, const Slice& slice);
// All small slices of the case: an input that many of them read counts as often, as in the products
// of matrices. Of a case that cannot be cut: its products.
size_t WorkOf(const Case& c);

// The work that is spent on hypotheses that explain an answer, and again on those across slices: in
// formulas without sums over other slices a few times that of a judgement, and at least about a
// second.
size_t MostWork(const Case& c);

// In a case that cannot be cut each hypothesis takes the work of a judgement: so many have that
// work. No limit for other cases, where a slice shows most hypotheses to be wrong.
size_t MostHypotheses(const Case& c);

// Not large cases: hypotheses about rare deviations are many, and most of them copy the inputs.
bool IsForRareCauses(const Case& c);

// So many times may the measurements of the operation be repeated, for parts of the answer or other
// recipes: each reads all inputs and outputs.
size_t MostMeasurements(const Case& c);

// As many elements as have that work: of a small case, more than it has.
size_t ElementsInWork(const Case& c, size_t work);

}  // namespace sextant::oracle
