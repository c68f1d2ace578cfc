// Properties and defects of feed-forward layers, with and without biases.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// For operations with the inputs x, gate, up, down, optionally gate_bias, up_bias, down_bias, and
// the outputs y and hidden.
std::vector<Property> FeedForwardProperties();
std::vector<Defect> FeedForwardDefects();

// Reversing the order of the F hidden units does not change the first output and reverses the
// output `hidden`. `reversed` has the weights of the units in reverse order.
Comparisons UnitsInAnyOrder(const Case& c, const Tensors& inputs, const Tensors& reversed,
                            const Ask& ask);

}  // namespace sextant::oracle
