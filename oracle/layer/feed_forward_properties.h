// Properties and defects of feed-forward layers.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> FeedForwardProperties();
std::vector<Defect> FeedForwardDefects();

// Reversing the order of the F hidden units does not change the first output and reverses the
// output `hidden`. `reversed` has the weights of the units in reverse order.
Comparisons UnitsInAnyOrder(const Case& c, const Tensors& inputs, const Tensors& reversed,
                            const Ask& ask);

}  // namespace sextant::oracle
