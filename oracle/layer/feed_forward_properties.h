// Properties and bugs of feed-forward parts, with biases and without.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// Of operations with inputs x, gate, up, down, maybe gate_bias, up_bias, down_bias, and the outputs
// y and hidden.
std::vector<Property> FeedForwardProperties();
std::vector<Defect> FeedForwardDefects();

// The units of a hidden layer of width F have no order: with their weights in reverse order, as in
// `turned`, the first output is the same, and that named hidden in reverse order.
Findings UnitsInAnyOrder(const Case& c, const Tensors& inputs, const Tensors& turned,
                         const Ask& ask);

}  // namespace sextant::oracle
