// Embeddings that are sums of two rows of the table: a shard that does not know a token adds its
// row 0.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// The row that is added to that of each token, if it is the same for ranges of tokens.
std::vector<Explanation> MeasureRowAdded(const Observation& seen);

}  // namespace sextant::oracle
