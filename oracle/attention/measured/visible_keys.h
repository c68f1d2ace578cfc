// The keys that queries see, measured by asked weights.
#pragma once

#include <optional>
#include <vector>

#include "oracle/attention/measured/key_sentences.h"
#include "oracle/attention/measured/plain_attention.h"
#include "oracle/attention/measured/rows.h"
#include "oracle/attention/measured/weights.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Query heads, without the last.
struct HeadRange {
  size_t first, last;
};

// [B,S,T]: how often a key counts, and what the mask says. A key is seen if it has a weight in any
// of the heads. It is missing only if its right weight exceeds the rounding error of 1 in one.
// Queries whose weights are all 0 count as right: nothing was written there.
struct CountedKeys {
  std::vector<double> counts, expected;
  std::vector<char> decided;  // 0: the weight of the key is too small to say it
  bool Says(size_t i) const { return decided[i] != 0 || counts[i] != expected[i]; }
};
CountedKeys VisibleIn(const AskedWeights& weights, const PlainAttention& plain, DType dtype,
                      const HeadRange& heads);

// The name and the sentence of other keys, and how often each counts. Those of a mask with other
// attributes come first, then rules by key and by distance; else the keys are counted.
struct OtherKeys {
  KeySentence sentence;
  OfKey counts;
};
constexpr const char* kCountedKeys = "visible_keys_changed";  // the name of keys without a rule
std::optional<OtherKeys> OtherKeysOf(const CountedKeys& visible, const PlainAttention& plain,
                                     const Hypothesis& base, const std::vector<Deviation>& masks,
                                     const Case& c);

}  // namespace sextant::oracle
