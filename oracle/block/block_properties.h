// Properties of all decoder blocks.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> BlockProperties();

}  // namespace sextant::oracle
