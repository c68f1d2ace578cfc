// Defects of YaRN.
#pragma once

#include <cmath>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> YarnDefects();

// The default amplitude of YaRN.
inline double YarnMagnitude(double factor) { return factor <= 1 ? 1 : 1 + 0.1 * std::log(factor); }

}  // namespace sextant::oracle
