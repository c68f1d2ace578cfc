// Laws and bugs that all blocks of a decoder have.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> BlockLaws();
std::vector<Defect> BlockInputDefects();

}  // namespace sextant::oracle
