// An answer that is a function of its argument, but none of the known ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/layer/measured/function.h"

namespace sextant::oracle {

// A sentence with some values: "y is a function of x, but none of the known ones: at 1.25 it is
// 0.5, expected 1.1". Empty if numbers for nearly equal arguments differ, or if the values are off
// by roundings alone.
std::optional<std::string> UnknownFunctionText(std::vector<Pair> pairs, const Function& right);

}  // namespace sextant::oracle
