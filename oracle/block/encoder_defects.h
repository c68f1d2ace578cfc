// Defects of an encoder block of the original Transformer.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

std::vector<Defect> EncoderFormulaDefects();
std::vector<Defect> EncoderInputDefects();

}  // namespace sextant::oracle
