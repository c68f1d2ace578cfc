// What attention computes, in factors that are measured one by one with asked weights: heads, keys,
// scores, the sum of the weights, values, the gain.
#pragma once

#include <vector>

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// One explanation by all factors that deviate. `scales` are likely numbers for the scale; `masks`
// other attributes of the mask. Empty if no factor deviates, if the subject cannot be asked, or if
// the weights are no function of the scores.
std::vector<Explanation> MeasureFactors(const Observation& seen, const Hypothesis& base,
                                        const WithParts& with_parts,
                                        const std::vector<NamedValue>& scales,
                                        const std::vector<Deviation>& masks);

}  // namespace sextant::oracle
