// Scores that differ by the key, fitted to asked weights.
#pragma once

#include <optional>

#include "oracle/attention/measured/query_rules.h"

namespace sextant::oracle {

// log weight = a score + c of the query, or score + a + c, with a number a of each key. Empty if
// neither gives the weights, or if all keys have the same a.
std::optional<QueryRule> KeyRuleOf(const PlainAttention& plain, const AskedWeights& weights,
                                   DType dtype);

}  // namespace sextant::oracle
