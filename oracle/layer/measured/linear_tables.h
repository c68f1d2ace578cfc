// Linear layers whose products or biases are measured: blocks of columns that count another number
// of times, and a bias that is measured output by output and then named.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/layer/measured/linear_layer.h"

namespace sextant::oracle {

// Not only the simplest. `weights`: layers with the right bias, the right one first; `has_bias`:
// the operation has a bias.
std::vector<Layer> FitLinearTables(const Observation& seen, ErrorBar bar,
                                   const std::vector<Layer>& weights, bool has_bias);

}  // namespace sextant::oracle
