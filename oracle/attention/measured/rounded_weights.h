// Weights that are rounded to few bits before they multiply the values, measured by asked weights.
#pragma once

#include <optional>

#include "oracle/attention/measured/query_rules.h"

namespace sextant::oracle {

// e^(score - largest) is rounded, so that the quotient of a weight and the largest one of its row
// is a number of few bits. The sum is that of the rounded ones, or of the right ones. Empty if the
// weights say neither.
std::optional<QueryRule> RoundedWeightsOf(const PlainAttention& plain, const AskedWeights& weights,
                                          DType dtype);

}  // namespace sextant::oracle
