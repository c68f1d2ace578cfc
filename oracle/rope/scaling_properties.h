// Properties of the scalings of frequencies, for the operation that returns frequencies and
// amplitude.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> ScalingProperties();

}  // namespace sextant::oracle
