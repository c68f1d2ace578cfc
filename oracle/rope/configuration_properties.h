// Properties of rotations whose frequencies come from a configuration: from `base` and `scaling`.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

// All of them, and one of these.
std::vector<Property> PropertiesOfConfiguration();
Property LinearScalingStretches();

}  // namespace sextant::oracle
