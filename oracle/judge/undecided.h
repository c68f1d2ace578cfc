// The elements of an answer whose verdict level 1 of the ladder leaves open (Enclose,
// reference/prove/prove.h). An element that is only enclosed is decided if the exact value and the
// permitted error may lie anywhere within their bounds without changing its grade.
#pragma once

#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// Marks the elements that must be proven: those whose grade is open, those that may be the worst of
// their tensor, so that a verdict states proven numbers, and all of a tensor whose worst is
// unlikely. No marks if nothing is to be proven. The outputs fit the case; threads: 0 for all
// cores.
ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads);

}  // namespace sextant::oracle
