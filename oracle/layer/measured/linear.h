// Measured linear layers: which columns and which bias are added.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> LinearMeasurements();

}  // namespace sextant::oracle
