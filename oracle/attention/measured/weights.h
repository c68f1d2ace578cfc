// The weights of the values, asked of a subject.
#pragma once

#include <optional>
#include <vector>

#include "oracle/attention/attention_parts.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

struct AskedWeights {
  AttentionSizes n;
  std::vector<double> of;           // the weight of every key for every query, [B,H,S,T]
  std::vector<double> sums;         // of the weights of a query, [B,H,S]; without a sink, 1
  std::vector<size_t> value_heads;  // of the query heads, [H]; empty if they differ by row

  std::span<const double> RowOf(size_t row) const { return std::span(of).subspan(row * n.T, n.T); }
};

// Asks the case again, in the same shape: with values of 1, which gives the sums, and with blocks
// of the identity, T / E questions. Their answers are the weight of every key for every query,
// whatever the scores are. The values of head g of batch b are multiplied by b K + g + 1, which
// says the head that a row reads. Empty without a subject, if it does not answer, if values of 1 do
// not give sums, or if too many questions would be needed.
std::optional<AskedWeights> AskWeights(const Observation& seen);

}  // namespace sextant::oracle
