// Two deviations, one upon the other: a deviation of the formula, and another that changes what the
// formula gives: few elements, rows or columns, sums of rows, a function of every number.
#pragma once

#include <vector>

#include "oracle/diagnosis/evidence.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The lower one is a listed defect, an explanation of the operation's measurements, or a sum of
// right numbers that was found in a part of the answer. It predicts every element. The upper one is
// the structure (oracle/diagnosis/answer/structure.h) of the answer beside that prediction. Both
// are said if they explain all elements together. For small cases: many parts are tried.
std::vector<Cause> LayeredCauses(const Observation& seen, Evidence& evidence,
                                 const ProveOptions& options);

}  // namespace sextant::oracle
