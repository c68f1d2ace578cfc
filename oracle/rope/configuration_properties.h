// Properties of rotations whose frequencies come from the attributes `base` and `scaling`.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

// All of these properties; LinearScalingStretches is one of them.
std::vector<Property> PropertiesOfConfiguration();
Property LinearScalingStretches();

}  // namespace sextant::oracle
