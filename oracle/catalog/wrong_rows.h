// Rows of an answer, each of which is right or wrong as a whole: a race, a path of the program that
// some tokens take, a batch that others overwrite.
#pragma once

#include <vector>

#include "oracle/diagnosis/evidence.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// Listed defects that predict whole rows (along the last axis of the output) of the answer: at
// least half of the failing elements are in such rows. Every other row is right, or it is told that
// these are unknown. Small cases with one output only.
std::vector<Cause> CausesOfRows(const Observation& seen, Evidence& evidence,
                                const ProveOptions& options);

}  // namespace sextant::oracle
