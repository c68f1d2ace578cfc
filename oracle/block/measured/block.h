// What a block computes, measured from its answers.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Other attributes of the rotation, attention and norms, and other positions.
std::vector<Explanation> MeasureBlock(const Observation& seen);

}  // namespace sextant::oracle
