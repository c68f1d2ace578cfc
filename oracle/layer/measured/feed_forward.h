// Measured feed-forward parts: the roles of the weights, the function, and what it is applied to.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> FeedForwardMeasurements();

}  // namespace sextant::oracle
