// Properties of the scalings of frequencies, on the operation that yields frequencies and
// amplitude.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> ScalingProperties();

}  // namespace sextant::oracle
