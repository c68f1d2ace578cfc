// Measured gates: the function, the roles of gate and up, and their limits.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> GatedMeasurements();

}  // namespace sextant::oracle
