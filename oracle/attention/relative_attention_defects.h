// Defects of attention with relative positions in keys and values.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> RelativeAttentionDefects();

}  // namespace sextant::oracle
