// Defects of LongRoPE.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> LongRopeDefects();

}  // namespace sextant::oracle
