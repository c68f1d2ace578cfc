// What a sinusoidal encoding computes: its pairs of sine and cosine are those of a rotation, with
// positions and frequencies that are measured separately.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureSinusoidal(const Observation& seen);

}  // namespace sextant::oracle
