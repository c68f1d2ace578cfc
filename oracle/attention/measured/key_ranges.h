// Which keys a query sees, as a rule for its first and its last one.
#pragma once

#include <optional>

#include "oracle/attention/measured/visible_keys.h"

namespace sextant::oracle {

// The simplest rules that give all keys that were measured; empty if there are none.
// Those of blocks are the mask with another chunk: kWithoutBlocks leaves them out.
enum class RangeRules { kAll, kWithoutBlocks };
std::optional<OtherKeys> KeyRangesOf(const CountedKeys& visible, const PlainAttention& plain,
                                     RangeRules rules);

// Up to three queries and their keys, in words: "query 5 sees keys 0 to 3, expected 0 to 5".
std::string ExamplesOf(const CountedKeys& visible, const AttentionSizes& n);

}  // namespace sextant::oracle
