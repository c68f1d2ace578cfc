// The factors of products whose errors are counted.
#pragma once

#include "reference/number/counted/counted.h"

namespace sextant {

// x converted to the format of the current step, and read as its rule says (tf32.h).
Counted ConvertedFactor(const Counted& x);

}  // namespace sextant
