// Defects of layer normalisation.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> LayerNormDefects();

}  // namespace sextant::oracle
