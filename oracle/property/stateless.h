// The property that no state of a subject, such as a cache, changes an answer.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// A property of every operation. The subject answers a case, a case with other attributes, a case
// with other extents and another dtype, and the first case again. The first and the last answer
// must be equal. The subject may decline the cases in between.
Property Stateless();

}  // namespace sextant::oracle
