// The property of what is kept between questions: a cache may not change an answer.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// Of every operation: a question, one with other attributes, one of other extents and another
// dtype, and the first again, which has the answer that it had. What the subject declines in
// between is left out.
Property Stateless();

}  // namespace sextant::oracle
