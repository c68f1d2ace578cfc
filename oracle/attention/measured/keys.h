// How often each key counts, measured from the answers alone.
#pragma once

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// With the weights e_t = e^score of the model, an answer is y = sum_t x_t e_t v_t / sum_t x_t e_t,
// where x_t is how often key t counts. For each row and channel this is a linear equation,
//   sum_t x_t e_t (v_t - y) = 0   (with a sink: = e^sink y).
// If x depends only on the key, or only on the distance of the key from the query, many rows have
// the same unknowns, and least squares give them. A deviation says which keys are missing, are seen
// although they are masked, or count more than once. Scores and heads must be right in `base`.
std::vector<Deviation> KeysByAnswers(const Observation& seen, const Hypothesis& base,
                                     const WithParts& with_parts);

// Their cost, in evaluations of a slice.
size_t CostOfKeys(const Case& c);

}  // namespace sextant::oracle
