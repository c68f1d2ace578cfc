// A bias that hides keys: one number, usually -infinity, where keys are later or earlier than the
// query.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Bias [H,S,T] of positions [S] and [T]. Without a model: all failing elements say it.
std::vector<Explanation> MeasureMaskedKeys(const Observation& seen);

}  // namespace sextant::oracle
