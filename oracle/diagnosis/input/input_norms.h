// Changes of an input that norm its rows.
#pragma once

#include <vector>

#include "oracle/diagnosis/input/input_axes.h"

namespace sextant::oracle {

// Each row, along the last axis, divided by its root mean square or its length, centered, or made
// to sum to 1.
std::vector<InputChange> NormedRows(size_t index);

}  // namespace sextant::oracle
