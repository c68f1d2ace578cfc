// Bugs of a block of the original Transformer's encoder.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> EncoderFormulaDefects();
std::vector<Defect> EncoderInputDefects();

}  // namespace sextant::oracle
