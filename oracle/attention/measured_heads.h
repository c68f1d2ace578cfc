// The key and value heads that query heads read.
#pragma once

#include "oracle/attention/measured_rows.h"
#include "oracle/position/measured_deviation.h"

namespace sextant::oracle {

// Other maps from query heads to the heads of keys and values, or of one of them.
Deviation HeadsOf(const Case& c, const Tensors& inputs, const WithParts& with_parts);

}  // namespace sextant::oracle
