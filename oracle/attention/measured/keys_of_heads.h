// Query heads that see different keys, measured by asked weights.
#pragma once

#include <optional>
#include <vector>

#include "oracle/attention/measured/visible_keys.h"

namespace sextant::oracle {

// `visible`: the keys that any head sees. For each head that sees others than the mask says, what
// OtherKeysOf says of it alone; before that, masks that count the rows of the query heads that
// share a key head, and keys that are dropped. Empty if all heads see the same keys.
std::optional<OtherKeys> KeysOfHeads(const AskedWeights& weights, const PlainAttention& plain,
                                     const CountedKeys& visible, const Hypothesis& base,
                                     const std::vector<Deviation>& masks, const Case& c);

}  // namespace sextant::oracle
