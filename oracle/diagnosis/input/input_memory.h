// Changes of an input that is read from wrong places of its memory.
#pragma once

#include <vector>

#include "oracle/diagnosis/input/input_axes.h"

namespace sextant::oracle {

// Input `index` read as if two of its axes were exchanged: [B,T,K,D] for [B,K,T,D].
std::vector<InputChange> ExchangedAxes(const TensorSpec& spec, const Shape& shape, size_t index);
// From another place on, or with rows that begin at other distances: in all of it, or in each
// matrix of its last two axes.
std::vector<InputChange> MemoryOrders(const TensorSpec& spec, const Shape& shape, size_t index);

}  // namespace sextant::oracle
