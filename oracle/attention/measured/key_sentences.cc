#include "oracle/attention/measured/key_sentences.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

using KeyNumbers = std::vector<size_t>;

KeyNumbers WhereCounts(const std::vector<double>& counts, const std::vector<double>& expected,
                       auto differ) {
  KeyNumbers keys;
  for (size_t t = 0; t < counts.size(); ++t)
    if (differ(counts[t], expected[t])) keys.push_back(t);
  return keys;
}

std::string Number(size_t x) { return std::to_string(x); }
std::string RangeText(size_t first, size_t last) {
  return first == last ? "key " + Number(first) : "keys " + Number(first) + " to " + Number(last);
}

// "keys 96 to 127 of each 128": a range that repeats, to the end of the keys, at least once.
std::optional<std::string> Repeated(const KeyNumbers& keys, size_t T) {
  for (size_t period = 2; period <= T / 2; ++period) {
    const size_t first = keys.front(), last = std::min(keys.back() % period, period - 1);
    if (first >= period || first > last) continue;
    KeyNumbers all;
    for (size_t t = 0; t < T; ++t)
      if (first <= t % period && t % period <= last) all.push_back(t);
    if (all == keys && keys.back() >= period)
      return RangeText(first, last) + " of each " + Number(period);
  }
  return std::nullopt;
}

// "keys 3 to 5, 9" in at most some ranges.
std::string ListedKeys(const KeyNumbers& keys) {
  constexpr size_t kMostRanges = 6;
  std::string text;
  size_t ranges = 0;
  for (size_t i = 0; i < keys.size();) {
    size_t last = i;
    while (last + 1 < keys.size() && keys[last + 1] == keys[last] + 1) ++last;
    if (++ranges > kMostRanges) return text + " ... (" + Number(keys.size()) + " keys)";
    text += (text.empty() ? "" : ", ") + RangeText(keys[i], keys[last]);
    i = last + 1;
  }
  return text;
}

std::string Described(const KeyNumbers& keys, size_t T) {
  if (keys.size() > 1 && keys.back() == T - 1 && keys.front() == T - keys.size()) {
    std::string text = "the last " + Number(keys.size()) + " keys";
    for (size_t tile = 2; tile < T; tile *= 2)
      if (T % tile == keys.size()) return text + " (a remainder of tiles of " + Number(tile) + ")";
    return text + " (" + ListedKeys(keys) + ")";
  }
  return Repeated(keys, T).value_or(ListedKeys(keys));
}

std::string SignedDistance(int64_t distance) {
  return distance < 0 ? " - " + std::to_string(-distance) : " + " + std::to_string(distance);
}

struct Ends {
  int64_t first = 0, last = 0;
  bool is_range = true;
};
// The least and the largest distance that is seen.
Ends EndsOf(const std::vector<double>& counts, int64_t first) {
  const auto sees = [](double count) { return count > 0; };
  const auto begin = std::ranges::find_if(counts, sees);
  const auto end = std::ranges::find_if(counts.rbegin(), counts.rend(), sees).base();
  return {first + (begin - counts.begin()), first + (end - counts.begin()) - 1,
          std::all_of(begin, end, sees)};
}

}  // namespace

KeySentence SentenceOfKeys(const std::vector<double>& counts, const std::vector<double>& expected) {
  const KeyNumbers missing = WhereCounts(
      counts, expected, [](double got, double wanted) { return got == 0 && wanted > 0; });
  const KeyNumbers leaked = WhereCounts(
      counts, expected, [](double got, double wanted) { return got > 0 && wanted == 0; });
  const KeyNumbers other = WhereCounts(counts, expected, [](double got, double wanted) {
    return got > 0 && wanted > 0 && got != wanted;
  });
  std::string name, text;
  const auto add = [&](const KeyNumbers& keys, const std::string& its_name,
                       const std::string& what) {
    if (keys.empty()) return;
    name += (name.empty() ? "" : "+") + its_name;
    text += (text.empty() ? "" : "; ") + Described(keys, counts.size()) + " " + what;
  };
  add(missing, "keys_missing", missing.size() == 1 ? "is missing" : "are missing");
  add(leaked, "keys_leaked", "beyond the key length or the mask are seen");
  if (!other.empty()) {
    add(other, "keys_repeated", "count " + TextWithDigits(counts[other.front()], 4) + " times");
  }
  return {name, text};
}

KeySentence SentenceOfDistances(const std::vector<double>& counts,
                                const std::vector<double>& expected, int64_t first) {
  if (counts == expected) return {};
  const Ends seen = EndsOf(counts, first), wanted = EndsOf(expected, first);
  if (!seen.is_range || !wanted.is_range ||
      std::ranges::any_of(counts, [](double count) { return count != 0 && count != 1; }))
    return {"distances_changed", "the weight of a key has a factor that depends on its distance"};
  const int64_t farthest = first + static_cast<int64_t>(counts.size()) - 1;
  std::string text;
  if (seen.last != wanted.last) {
    text = "query s sees keys up to its own" + SignedDistance(seen.last) + ", expected its own" +
           SignedDistance(wanted.last);
    if (seen.last == farthest) text += " (no key is masked)";
  }
  if (seen.first != wanted.first) {
    text += (text.empty() ? "" : "; ") + std::string("the first key that query s sees is its own") +
            SignedDistance(seen.first) + ", expected its own" + SignedDistance(wanted.first);
    if (seen.last == 0 && wanted.last == 0)
      text += " (a window of " + std::to_string(1 - seen.first) + " keys instead of " +
              std::to_string(1 - wanted.first) + ")";
  }
  return {seen.last != wanted.last ? "last_key_shifted" : "first_key_shifted", text};
}

}  // namespace sextant::oracle
