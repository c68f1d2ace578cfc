// What cross_attention computes: weights and biases of the projections, heads, keys, scores, and
// the order of the channels of the mean, each by itself.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureCross(const Observation& seen);

}  // namespace sextant::oracle
