// Measured add_rms_norm: what is summed, what is normalised, and how.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> AddNormMeasurements();

}  // namespace sextant::oracle
