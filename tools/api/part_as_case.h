// A part of a large case as a case of its own, for what needs all tensors in memory: causes.
#pragma once

#include <optional>

#include "reference/number/tensor/stored_tensor.h"
#include "reference/prove/slices.h"

namespace sextant::tools {

struct PartAsCase {
  Slice part;  // of the large case
  Case c;      // its inputs are these, not those that it draws
  Tensors inputs, outputs;
};

// A part with element `index` of an output, cut along axes on which an element does not depend on
// its index, of about 2^16 output elements if they can be cut so far. Empty if there is no such
// part, or if no line of a case names it.
std::optional<PartAsCase> PartAround(const Case& c, const TensorReaders& inputs,
                                     const TensorReaders& outputs, const TensorSpec& output,
                                     size_t index);

}  // namespace sextant::tools
