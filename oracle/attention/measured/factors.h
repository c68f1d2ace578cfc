// What attention computes, in factors that are measured one by one with asked weights: heads, keys,
// scores, the sum of the weights, values, the gain.
#pragma once

#include <vector>

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// What is known of other implementations.
struct KnownDeviations {
  std::vector<NamedValue> scales;   // likely numbers for the scale
  std::vector<Deviation> masks;     // other attributes of the mask
  std::vector<Deviation> operands;  // other rotations of queries and keys, another bias
};

// One explanation by all factors that deviate, perhaps beside another rotation or bias, that
// predicts the answer. Several if several of these do. Empty if no factor deviates, if the subject
// cannot be asked, or if the weights are no function of the scores.
std::vector<Explanation> MeasureFactors(const Observation& seen, const Hypothesis& base,
                                        const WithParts& with_parts, const KnownDeviations& known);

}  // namespace sextant::oracle
