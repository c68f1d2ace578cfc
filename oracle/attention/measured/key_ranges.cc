#include "oracle/attention/measured/key_ranges.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::oracle {
namespace {

// A query, and the keys that the mask shows it.
struct Query {
  int64_t at;           // the key that it belongs to
  int64_t first, last;  // of the keys, without the last
};

// One end of the keys of a query; an empty text: the right one.
struct End {
  std::string text;
  std::function<int64_t(const Query& q)> of;
};

int64_t Floor(int64_t x, int64_t n) { return (x >= 0 ? x : x - n + 1) / n * n; }
int64_t Ceil(int64_t x, int64_t n) { return Floor(x + n - 1, n); }
std::string IndexText(int64_t n) { return std::to_string(n); }

std::vector<End> FirstKeys(int64_t T, int64_t chunk, RangeRules rules) {
  std::vector<End> all = {{"", [](const Query& q) { return q.first; }}};
  const auto add = [&](std::string text, std::function<int64_t(const Query&)> of) {
    all.push_back({"the first key that a query sees is " + text, std::move(of)});
  };
  for (int64_t n = 2; n <= 64 && n < T; n *= 2) {
    add("rounded up to a multiple of " + IndexText(n),
        [=](const Query& q) { return Ceil(q.first, n); });
    add("rounded down to a multiple of " + IndexText(n),
        [=](const Query& q) { return Floor(q.first, n); });
  }
  for (int64_t key = 1; key < T; ++key) {
    all.push_back({"queries from key " + IndexText(key) +
                       " on see no keys before it: a sequence starts there",
                   [=](const Query& q) { return q.at >= key ? std::max(q.first, key) : q.first; }});
    add("at least " + IndexText(key), [=](const Query& q) { return std::max(q.first, key); });
  }
  for (int64_t shift = 1; chunk > 0 && shift < chunk; ++shift)
    add("that of a chunk of " + IndexText(chunk) + " keys whose border is " + IndexText(shift) +
            " earlier",
        [=](const Query& q) { return std::max<int64_t>(0, Floor(q.at + shift, chunk) - shift); });
  for (int64_t size = 2; rules == RangeRules::kAll && size < T && size <= 64; ++size)
    add("that of its block of " + IndexText(size),
        [=](const Query& q) { return Floor(q.at, size); });
  return all;
}

std::vector<End> LastKeys(int64_t T) {
  std::vector<End> all = {{"", [](const Query& q) { return q.last; }}};
  const auto add = [&](std::string text, std::function<int64_t(const Query&)> of) {
    all.push_back(
        {"the number of keys up to the last one that a query sees is " + text, std::move(of)});
  };
  for (int64_t n = 2; n <= 64 && n < T; n *= 2) {
    add("rounded up to whole blocks of " + IndexText(n),
        [=](const Query& q) { return Ceil(q.last, n); });
    add("rounded down to whole blocks of " + IndexText(n),
        [=](const Query& q) { return Floor(q.last, n); });
    add("that of the end of its block of " + IndexText(n),
        [=](const Query& q) { return Ceil(q.at + 1, n); });
  }
  for (int64_t key = 1; key < T; ++key)
    add("at most " + IndexText(key), [=](const Query& q) { return std::min(q.last, key); });
  add("that of all keys", [=](const Query&) { return T; });
  add("that of its own key", [](const Query& q) { return q.at + 1; });
  return all;
}

}  // namespace

std::optional<OtherKeys> KeyRangesOf(const CountedKeys& visible, const PlainAttention& plain,
                                     RangeRules rules) {
  const AttentionSizes n = plain.sizes();
  // Some 3 T rules are tried, each with all keys until one contradicts.
  constexpr size_t kMostKeys = size_t{1} << 26;
  if (3 * n.T * visible.counts.size() > kMostKeys) return std::nullopt;
  const AttentionAttributes op = plain.attributes();
  const auto T = static_cast<int64_t>(n.T);
  const auto query = [op](size_t b, size_t s) {
    const KeyRange keys = op.KeysOf(b, s);
    return Query{op.FirstIndex(b) + static_cast<int64_t>(s), static_cast<int64_t>(keys.first),
                 static_cast<int64_t>(keys.last)};
  };
  const std::vector<End> last = LastKeys(T);
  for (const End& begin : FirstKeys(T, op.chunk.value_or(0), rules)) {
    for (const End& end : last) {
      if (begin.text.empty() == end.text.empty()) continue;
      const auto shows = [=](size_t b, size_t s, size_t t) {
        const Query q = query(b, s);
        const auto key = static_cast<int64_t>(t);
        return begin.of(q) <= key && key < std::min(T, end.of(q)) ? 1.0 : 0.0;
      };
      size_t same = 0;
      while (same < visible.counts.size() &&
             (!visible.Says(same) ||
              shows(same / n.T / n.S, same / n.T % n.S, same % n.T) == visible.counts[same]))
        ++same;
      if (same < visible.counts.size()) continue;
      return OtherKeys{{"visible_keys_changed", begin.text + end.text},
                       [shows](size_t b, size_t, size_t s, size_t t) { return shows(b, s, t); }};
    }
  }
  return std::nullopt;
}

std::string ExamplesOf(const CountedKeys& visible, const AttentionSizes& n) {
  constexpr size_t kMost = 3;
  const auto keys_of = [&](const std::vector<double>& counts, size_t row) {
    constexpr size_t kMostRuns = 4;
    std::string text;
    size_t runs = 0;
    for (size_t t = 0; t < n.T; ++t) {
      if (counts[row * n.T + t] == 0) continue;
      if (++runs > kMostRuns) return text + " ...";
      size_t end = t;
      while (end + 1 < n.T && counts[row * n.T + end + 1] != 0) ++end;
      text += (text.empty() ? "" : ", ") + std::to_string(t) +
              (end > t ? " to " + std::to_string(end) : "");
      t = end;
    }
    return text.empty() ? "none" : text;
  };
  std::string text;
  size_t others = 0;
  for (size_t row = 0; row < n.B * n.S; ++row) {
    const auto first = static_cast<std::ptrdiff_t>(row * n.T);
    if (std::equal(visible.counts.begin() + first,
                   visible.counts.begin() + first + static_cast<std::ptrdiff_t>(n.T),
                   visible.expected.begin() + first))
      continue;
    if (++others > kMost) continue;
    text += (text.empty() ? "" : "; ") + std::string("query ") + std::to_string(row % n.S) +
            (n.B > 1 ? " of batch " + std::to_string(row / n.S) : "") + " sees keys " +
            keys_of(visible.counts, row) + ", expected " + keys_of(visible.expected, row);
  }
  if (others > kMost) text += "; and " + std::to_string(others - kMost) + " more queries";
  return text;
}

}  // namespace sextant::oracle
