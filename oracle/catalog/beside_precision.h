// A deviation beside a precision: another base, and a table that is stored in bf16. Bounds of the
// recipe alone hide the one or the other: by them neither explains the answer.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The causes (NamedCauses) by the first of the recipes that compute one step in 16 bits, in the
// order of what they permit, by which there are some. Empty in large cases.
std::vector<Cause> CausesBesideAPrecision(const Observation& seen, const ProveOptions& options);

}  // namespace sextant::oracle
