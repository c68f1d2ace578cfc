// The weights of the values, asked of a subject.
#pragma once

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Asks the case again, in the same shape, with blocks of the identity as values: T / E questions.
// Their answers are the weight of every key for every query, whatever the scores are. The values of
// head g of batch b are multiplied by b K + g + 1, so that the sum of a row says which it reads.
// The deviations, each of one value: other keys than the mask shows, and other heads. Empty without
// a subject, if it does not answer, or if too many questions would be needed.
std::vector<Deviation> WeightsByAsking(const Observation& seen, const Hypothesis& base,
                                       const WithParts& with_parts);

}  // namespace sextant::oracle
