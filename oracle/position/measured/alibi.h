// What ALiBi computes: the distance and the slope of each head, measured from its answers.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureBias(const Observation& seen);
std::vector<Explanation> MeasureSlopes(const Observation& seen);

}  // namespace sextant::oracle
