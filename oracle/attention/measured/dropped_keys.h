// Keys that lose their weight, in most heads others: small ones, or any of them.
#pragma once

#include <optional>

#include "oracle/attention/measured/visible_keys.h"

namespace sextant::oracle {

// All keys whose right weight is less than a number have none. Empty if there is no such number, or
// if it is so small that rounding may be the reason.
std::optional<OtherKeys> SmallKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                          DType dtype);

// Some keys have no weight. Empty if a query sees a key that it should not see, or if few are lost.
// Whoever asks knows that the heads lack different keys.
std::optional<OtherKeys> AnyKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                        DType dtype);

}  // namespace sextant::oracle
