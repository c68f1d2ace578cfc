// The key and value heads that query heads read.
#pragma once

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Other maps from query heads to the heads of keys and values, or of one of them. `inputs`: those
// of MeasuredParts.
Deviation HeadsOf(const Case& c, const std::shared_ptr<const Tensors>& inputs,
                  const WithParts& with_parts);

}  // namespace sextant::oracle
