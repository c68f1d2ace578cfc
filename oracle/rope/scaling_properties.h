// Properties of the scalings of frequencies, for the operation that returns frequencies and
// amplitude.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

inline constexpr size_t kFrequency = 0, kAmplitude = 1;  // outputs of rope_frequencies

std::vector<Property> ScalingProperties();

}  // namespace sextant::oracle
