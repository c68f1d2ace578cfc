// Measured activations: which function an answer shows.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> ActivationMeasurements();

}  // namespace sextant::oracle
