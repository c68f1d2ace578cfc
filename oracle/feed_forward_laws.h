// Laws and bugs of feed-forward parts, with biases and without.
#pragma once

#include <vector>

#include "oracle/defect.h"
#include "oracle/property.h"

namespace sextant::oracle {

// Of operations with inputs x, gate, up, down, maybe gate_bias, up_bias, down_bias, and the outputs
// y and hidden.
std::vector<Property> FeedForwardLaws();
std::vector<Defect> FeedForwardDefects();

}  // namespace sextant::oracle
