#include "oracle/attention/measured/visible_keys.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "oracle/attention/measured/key_ranges.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {

CountedKeys VisibleIn(const AskedWeights& weights, const PlainAttention& plain, DType dtype,
                      const HeadRange& heads) {
  const AttentionSizes& n = plain.sizes();
  const size_t count = n.B * n.S * n.T;
  CountedKeys visible{std::vector<double>(count), std::vector<double>(count),
                      std::vector<char>(count)};
  for (size_t row = 0; row < n.rows(); ++row) {
    if (const size_t h = row / n.S % n.H; h < heads.first || h >= heads.last) continue;
    const std::vector<double> right = plain.WeightsOf(row);
    for (size_t t = 0; t < n.T; ++t) {
      const size_t i = (row / (n.H * n.S) * n.S + row % n.S) * n.T + t;
      visible.expected[i] = plain.CountOf(row, t);
      if (weights.RowOf(row)[t] != 0) visible.counts[i] = 1;
      const bool is_written = weights.sums[row] != 0;
      visible.decided[i] |= is_written && right[t] > UnitRoundoffOf(dtype);
    }
  }
  for (size_t i = 0; i < count; ++i)
    if (!visible.decided[i] && visible.counts[i] == 0) visible.counts[i] = visible.expected[i];
  return visible;
}

namespace {

// The keys of the mask with other attributes that shows these keys. Attributes of one text only:
// that of the first deviation that does. Rows that say nothing have its keys, too: it may leave
// none.
std::optional<OtherKeys> KeysOfMask(const CountedKeys& visible, const AttentionSizes& n,
                                    const Hypothesis& base, const std::vector<Deviation>& masks,
                                    const Case& c) {
  for (const Deviation& mask : masks) {
    for (const NamedValue& value : mask.values) {
      const auto model = mask.changed(base, value.value);
      if (!model) continue;
      const AttentionAttributes other = AttentionOf(c, *model->operation);
      const auto shows = [other](size_t b, size_t s, size_t t) {
        const KeyRange keys = other.KeysOf(b, s);
        return keys.first <= t && t < keys.last ? 1.0 : 0.0;
      };
      const auto agrees = [&](size_t i) {
        return !visible.Says(i) ||
               shows(i / n.T / n.S, i / n.T % n.S, i % n.T) == visible.counts[i];
      };
      size_t same = 0;
      while (same < visible.counts.size() && agrees(same)) ++same;
      if (same < visible.counts.size()) continue;
      const std::string text = value.text.empty() ? PrintValue(value.value) : value.text;
      return OtherKeys{{mask.name, mask.sentence(text)},
                       [shows](size_t b, size_t, size_t s, size_t t) { return shows(b, s, t); }};
    }
  }
  return std::nullopt;
}

// All queries lack the same keys, or see the same distances, or what differs is counted.
KeySentence SentenceOf(const CountedKeys& visible, const AttentionSizes& n,
                       const AttentionAttributes& op) {
  std::vector<double> by_key(n.T, 1), by_distance(n.S + n.T - 1), expected(n.S + n.T - 1);
  std::vector<char> is_known(by_distance.size());
  const int64_t least = -op.FirstIndex(0) - static_cast<int64_t>(n.S) + 1;
  size_t missing = 0, leaked = 0;
  for (size_t i = 0; i < visible.counts.size(); ++i) {
    const size_t s = i / n.T % n.S, t = i % n.T, distance = t + n.S - 1 - s;
    missing += visible.counts[i] < visible.expected[i];
    leaked += visible.counts[i] > visible.expected[i];
    if (visible.counts[i] < visible.expected[i]) by_key[t] = 0;
    expected[distance] = std::max(expected[distance], visible.expected[i]);
    if (!visible.Says(i)) continue;
    is_known[distance] = 1;
    by_distance[distance] = std::max(by_distance[distance], visible.counts[i]);
  }
  for (size_t i = 0; i < is_known.size(); ++i)
    if (!is_known[i]) by_distance[i] = expected[i];
  bool is_by_key = leaked == 0, is_by_distance = n.B == 1 || !op.key_length;
  for (size_t i = 0; i < visible.counts.size(); ++i) {
    const size_t s = i / n.T % n.S, t = i % n.T;
    if (!visible.Says(i)) continue;
    is_by_key &= visible.counts[i] == std::min(visible.expected[i], by_key[t]);
    is_by_distance &= visible.counts[i] == by_distance[t + n.S - 1 - s];
  }
  if (is_by_key) return SentenceOfKeys(by_key, std::vector<double>(n.T, 1));
  if (is_by_distance) return SentenceOfDistances(by_distance, expected, least);
  return {kCountedKeys, "queries do not see " + std::to_string(missing) +
                            " keys that they should see, and see " + std::to_string(leaked) +
                            " that they should not see, in all batches: " + ExamplesOf(visible, n)};
}

// Hidden keys are seen, and the others are not; some of each.
bool IsInverted(const CountedKeys& visible) {
  bool has_leaked = false, has_lost = false;
  for (size_t i = 0; i < visible.counts.size(); ++i) {
    if (!visible.Says(i)) continue;
    if (visible.counts[i] == visible.expected[i]) return false;
    (visible.counts[i] > 0 ? has_leaked : has_lost) = true;
  }
  return has_leaked && has_lost;
}

}  // namespace

std::optional<OtherKeys> OtherKeysOf(const CountedKeys& visible, const PlainAttention& plain,
                                     const Hypothesis& base, const std::vector<Deviation>& masks,
                                     const Case& c) {
  if (visible.counts == visible.expected) return std::nullopt;
  const AttentionSizes& n = plain.sizes();
  if (auto keys = KeysOfMask(visible, n, base, masks, c)) {
    if (const auto alike = KeyRangesOf(visible, plain, RangeRules::kWithoutBlocks))
      keys->sentence.text += "; here it is the same if " + alike->sentence.text;
    return keys;
  }
  if (IsInverted(visible)) {
    return OtherKeys{{"mask_inverted",
                      "the mask is inverted: queries see the keys that they should not see, and no "
                      "others"},
                     [op = plain.attributes()](size_t b, size_t, size_t s, size_t t) {
                       const KeyRange keys = op.KeysOf(b, s);
                       return keys.first <= t && t < keys.last ? 0.0 : 1.0;
                     }};
  }
  const KeySentence sentence = SentenceOf(visible, n, plain.attributes());
  if (sentence.name == kCountedKeys) {
    if (auto keys = KeyRangesOf(visible, plain, RangeRules::kAll)) return keys;
  }
  const auto counts = std::make_shared<const std::vector<double>>(visible.counts);
  return OtherKeys{sentence, [counts, S = n.S, T = n.T](size_t b, size_t, size_t s, size_t t) {
                     return (*counts)[(b * S + s) * T + t];
                   }};
}

}  // namespace sextant::oracle
