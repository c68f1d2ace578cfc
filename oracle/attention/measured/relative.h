// What attention with relative positions computes: which row of its tables a distance reads, other
// attributes, and changed inputs.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// For relative_attention.
std::vector<Explanation> MeasureRelative(const Observation& seen);

}  // namespace sextant::oracle
