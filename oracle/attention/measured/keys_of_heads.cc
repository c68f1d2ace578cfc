#include "oracle/attention/measured/keys_of_heads.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "oracle/attention/measured/dropped_keys.h"

namespace sextant::oracle {
namespace {

// The keys of each head alone.
std::vector<CountedKeys> ByHead(const AskedWeights& weights, const PlainAttention& plain,
                                DType dtype) {
  std::vector<CountedKeys> heads;
  for (size_t h = 0; h < plain.sizes().H; ++h)
    heads.push_back(VisibleIn(weights, plain, dtype, {h, h + 1}));
  return heads;
}

bool Differ(const std::vector<CountedKeys>& heads, const CountedKeys& any) {
  return std::ranges::any_of(heads, [&](const CountedKeys& head) {
    for (size_t i = 0; i < any.counts.size(); ++i)
      if (head.Says(i) && head.counts[i] != any.counts[i]) return true;
    return false;
  });
}

// The row of a query among those of the `group` heads that share a key head.
struct PackedRow {
  std::string text;
  std::function<int64_t(int64_t h, int64_t s, int64_t group, int64_t S)> of;
};
const std::vector<PackedRow> kPackedRows = {
    {"s * # + h mod #",
     [](int64_t h, int64_t s, int64_t group, int64_t) { return s * group + h % group; }},
    {"(h mod #) * S + s",
     [](int64_t h, int64_t s, int64_t group, int64_t S) { return h % group * S + s; }},
};

// A query of a head sees the keys up to its packed row.
std::optional<OtherKeys> ByPackedRow(const std::vector<CountedKeys>& heads,
                                     const PlainAttention& plain) {
  const AttentionSizes& n = plain.sizes();
  const AttentionAttributes op = plain.attributes();
  const auto group = static_cast<int64_t>(n.H / n.K), S = static_cast<int64_t>(n.S);
  if (group < 2) return std::nullopt;
  const int64_t later[] = {op.FirstIndex(0), 0, static_cast<int64_t>(n.T) - S * group};
  for (const PackedRow& row : kPackedRows) {
    for (const int64_t shift : later) {
      const auto shows = [=, of = row.of](size_t b, size_t h, size_t s, size_t t) {
        const int64_t last = of(static_cast<int64_t>(h), static_cast<int64_t>(s), group, S) + shift;
        return op.KeysOf(b, s).first <= t && static_cast<int64_t>(t) <= last ? 1.0 : 0.0;
      };
      const auto agrees = [&](size_t h) {
        for (size_t i = 0; i < heads[h].counts.size(); ++i)
          if (heads[h].Says(i) &&
              heads[h].counts[i] != shows(i / n.T / n.S, h, i / n.T % n.S, i % n.T))
            return false;
        return true;
      };
      size_t same = 0;
      while (same < n.H && agrees(same)) ++same;
      if (same < n.H) continue;
      std::string text = row.text;
      for (size_t at; (at = text.find('#')) != std::string::npos;)
        text.replace(at, 1, std::to_string(group));
      if (shift != 0) text += (shift < 0 ? " - " : " + ") + std::to_string(std::abs(shift));
      return OtherKeys{
          {"mask_of_packed_rows", "the mask counts the rows of the " + std::to_string(group) +
                                      " heads that share a key head: query s of "
                                      "head h sees keys up to " +
                                      text},
          shows};
    }
  }
  return std::nullopt;
}

std::string HeadsText(const std::vector<size_t>& heads) {
  std::string text;
  for (const size_t h : heads) text += (text.empty() ? "" : ", ") + std::to_string(h);
  return (heads.size() == 1 ? "head " : "heads ") + text;
}

}  // namespace

std::optional<OtherKeys> KeysOfHeads(const AskedWeights& weights, const PlainAttention& plain,
                                     const CountedKeys& visible, const Hypothesis& base,
                                     const std::vector<Deviation>& masks, const Case& c) {
  const AttentionSizes& n = plain.sizes();
  if (n.H < 2) return std::nullopt;
  const std::vector<CountedKeys> heads = ByHead(weights, plain, c.dtype());
  if (!Differ(heads, visible)) return std::nullopt;
  if (auto packed = ByPackedRow(heads, plain)) return packed;
  constexpr size_t kMostKeys = size_t{1} << 22;  // several rules are compared with all of a head
  if (heads.size() * visible.counts.size() > kMostKeys) return std::nullopt;
  if (auto small = SmallKeysDropped(weights, plain, c.dtype())) return small;
  std::vector<OfKey> counts(n.H);
  std::vector<std::pair<KeySentence, std::vector<size_t>>> said;
  for (size_t h = 0; h < n.H; ++h) {
    auto other = OtherKeysOf(heads[h], plain, base, masks, c);
    if (!other) continue;
    counts[h] = std::move(other->counts);
    const auto same = std::ranges::find_if(
        said, [&](const auto& one) { return one.first.text == other->sentence.text; });
    if (same != said.end()) same->second.push_back(h);
    if (same == said.end()) said.push_back({std::move(other->sentence), {h}});
  }
  if (said.empty()) return std::nullopt;
  constexpr size_t kManyRules = 3;
  const bool are_counted =
      std::ranges::all_of(said, [](const auto& one) { return one.first.name == kCountedKeys; });
  const bool is_each_other = said.size() >= kManyRules && 2 * said.size() > n.H;
  if (is_each_other && are_counted)
    if (auto dropped = AnyKeysDropped(weights, plain, c.dtype())) return dropped;
  constexpr size_t kShown = 4;
  KeySentence sentence{"keys_of_heads_changed", ""};
  for (size_t i = 0; i < std::min(said.size(), kShown); ++i)
    sentence.text += (i > 0 ? "; " : "") + std::string("in ") + HeadsText(said[i].second) + ", " +
                     said[i].first.text;
  if (said.size() > kShown)
    sentence.text += "; and others in " + std::to_string(said.size() - kShown) + " more heads";
  return OtherKeys{sentence, [=, op = plain.attributes()](size_t b, size_t h, size_t s, size_t t) {
                     if (counts[h]) return counts[h](b, h, s, t);
                     const KeyRange keys = op.KeysOf(b, s);
                     return keys.first <= t && t < keys.last ? 1.0 : 0.0;
                   }};
}

}  // namespace sextant::oracle
