// Properties that all blocks of a decoder have.
#pragma once

#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> BlockProperties();

}  // namespace sextant::oracle
