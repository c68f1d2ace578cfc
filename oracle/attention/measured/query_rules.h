// Scores that differ by the query or by the distance of query and key, fitted to asked weights.
#pragma once

#include <optional>
#include <string>

#include "oracle/attention/measured/plain_attention.h"
#include "oracle/attention/measured/rows.h"
#include "oracle/attention/measured/weights.h"

namespace sextant::oracle {

// What deviates, and the parts that do so.
struct QueryRule {
  std::string name, text;
  EditParts set;
};
// log weight = a score + c, with a and c of each query; or score - m (i - t) + c, with m of each
// head. Empty if neither gives the weights.
std::optional<QueryRule> QueryRuleOf(const PlainAttention& plain, const AskedWeights& weights,
                                     DType dtype);

}  // namespace sextant::oracle
