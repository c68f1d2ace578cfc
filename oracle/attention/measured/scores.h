// What attention_scores computes: which key head a query head reads, how often each channel counts,
// the scale, and changed inputs.
#pragma once

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// For attention_scores. `with_parts`: its key heads are those of the parts.
std::vector<Explanation> MeasureProducts(const Observation& seen, const Hypothesis& base,
                                         const WithParts& with_parts);

}  // namespace sextant::oracle
