// What attention_merge computes: the weights of both parts, and lse, each by itself.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureMerge(const Observation& seen);

}  // namespace sextant::oracle
