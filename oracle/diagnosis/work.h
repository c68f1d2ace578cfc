// Work: the numbers that a computation reads and writes, as a measure of what it costs that does
// not depend on the machine. It bounds what is spent on the diagnosis of one answer.
#pragma once

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

// The inputs and outputs of the slice.
size_t WorkOf(const Case& c, const Slice& slice);
// All small slices of the case: an input that many of them read counts as often, as in the products
// of matrices.
size_t WorkOf(const Case& c);

// The work that is spent on hypotheses that explain an answer, and again on those across slices: in
// formulas without sums over other slices a few times that of a judgement, and at least about a
// second.
size_t MostWork(const Case& c);

// As many elements as have that work: of a small case, more than it has.
size_t ElementsInWork(const Case& c, size_t work);

}  // namespace sextant::oracle
