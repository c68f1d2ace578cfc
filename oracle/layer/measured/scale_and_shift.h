// Measured layer norms whose rows have two numbers of 16 bits: x is scaled by one and shifted by
// the other before the weight and the bias.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// For layer_norm: 1 / sigma and -mean / sigma are kept in 16 bits, or x / sigma and mean / sigma
// are rounded before they are subtracted.
std::vector<Measurement> ScaleAndShiftMeasurements();

}  // namespace sextant::oracle
