#include "oracle/attention/measured/dropped_keys.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "oracle/diagnosis/measured_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestLost = 8;  // keys that are lost

struct Key {
  size_t at;          // in [B,H,S,T]
  double share;       // its right weight
  double of_largest;  // the same, divided by that of the largest key of its row
  bool is_lost;
};

struct LostKeys {
  std::vector<Key> written;    // of rows in which some key has a weight
  std::vector<Key> unwritten;  // of the others: they lost all, or were not written
};

// The keys that the mask shows and whose right weight exceeds the rounding error of 1; none if a
// query sees a hidden one.
std::optional<LostKeys> LostKeysOf(const AskedWeights& weights, const PlainAttention& plain,
                                   DType dtype) {
  const AttentionSizes& n = plain.sizes();
  LostKeys keys;
  for (size_t row = 0; row < n.rows(); ++row) {
    const auto got = weights.RowOf(row);
    const std::vector<double> right = plain.WeightsOf(row);
    size_t weighted = 0;
    double largest = 0;
    for (size_t t = 0; t < n.T; ++t) {
      weighted += got[t] != 0;
      if (plain.CountOf(row, t) == 0 && got[t] != 0) return std::nullopt;
      if (plain.CountOf(row, t) == 0) continue;
      largest = std::max(largest, right[t]);
    }
    for (size_t t = 0; t < n.T; ++t) {
      if (plain.CountOf(row, t) == 0 || right[t] <= UnitRoundoffOf(dtype)) continue;
      (weighted > 0 ? keys.written : keys.unwritten)
          .push_back({row * n.T + t, right[t], right[t] / largest, got[t] == 0});
    }
  }
  return keys;
}

size_t CountLost(const std::vector<Key>& keys) {
  return static_cast<size_t>(std::ranges::count_if(keys, &Key::is_lost));
}

OfKey CountsWithout(const std::vector<Key>& keys, const PlainAttention& plain) {
  const AttentionSizes& n = plain.sizes();
  std::vector<char> lost(n.rows() * n.T);
  for (const Key& key : keys) lost[key.at] = key.is_lost ? 1 : 0;
  return [lost = std::make_shared<const std::vector<char>>(std::move(lost)), n,
          op = plain.attributes()](size_t b, size_t h, size_t s, size_t t) {
    const KeyRange seen = op.KeysOf(b, s);
    return seen.first <= t && t < seen.last && !(*lost)[((b * n.H + h) * n.S + s) * n.T + t] ? 1.0
                                                                                             : 0.0;
  };
}

// Adds the keys of rows that see so few that all may be lost at random.
void AddShortRows(const std::vector<Key>& unwritten, const PlainAttention& plain,
                  std::vector<Key>& keys) {
  constexpr size_t kFew = 3;
  std::map<size_t, size_t> seen;
  for (const Key& key : unwritten) ++seen[key.at / plain.sizes().T];
  for (const Key& key : unwritten)
    if (seen[key.at / plain.sizes().T] <= kFew) keys.push_back(key);
}

// All keys. Of rows without a weight, those are lost whose keys are all too small: the other rows
// were not written.
std::vector<Key> WithoutSmall(LostKeys keys, double Key::*measure, double least_kept,
                              const PlainAttention& plain) {
  std::map<size_t, double> largest;  // of the rows without a weight
  const auto row_of = [T = plain.sizes().T](const Key& key) { return key.at / T; };
  for (const Key& key : keys.unwritten)
    largest[row_of(key)] = std::max(largest[row_of(key)], key.*measure);
  for (Key& key : keys.unwritten) key.is_lost = largest[row_of(key)] < least_kept;
  keys.written.insert(keys.written.end(), keys.unwritten.begin(), keys.unwritten.end());
  return std::move(keys.written);
}

}  // namespace

std::optional<OtherKeys> SmallKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                          DType dtype) {
  auto keys = LostKeysOf(weights, plain, dtype);
  if (!keys || CountLost(keys->written) < kFewestLost) return std::nullopt;
  const std::pair<double Key::*, const char*> measures[] = {
      {&Key::share, "keys whose weight is less than "},
      {&Key::of_largest, "keys whose e^(score - largest) is less than "}};
  for (const auto& [measure, text] : measures) {
    double most_lost = 0, least_kept = kInfinity;
    for (const Key& key : keys->written)
      key.is_lost ? most_lost = std::max(most_lost, key.*measure)
                  : least_kept = std::min(least_kept, key.*measure);
    if (!(most_lost < least_kept) || std::isinf(least_kept)) continue;
    // Honest sums lose weights of some roundings of 1.
    if (most_lost <= 4 * UnitRoundoffOf(dtype)) return std::nullopt;
    const MeasuredNumber least = MiddleOf({most_lost, least_kept});
    return OtherKeys{
        {"small_weights_dropped", text + ShortestText(least) + " are dropped"},
        CountsWithout(WithoutSmall(std::move(*keys), measure, least_kept, plain), plain)};
  }
  return std::nullopt;
}

std::optional<OtherKeys> AnyKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                        DType dtype) {
  auto found = LostKeysOf(weights, plain, dtype);
  if (!found) return std::nullopt;
  std::vector<Key> keys = std::move(found->written);
  AddShortRows(found->unwritten, plain, keys);
  if (CountLost(keys) < kFewestLost) return std::nullopt;
  const AttentionSizes& n = plain.sizes();
  std::string examples;
  size_t shown = 0;
  for (const Key& key : keys) {
    constexpr size_t kShown = 3;
    if (!key.is_lost || ++shown > kShown) continue;
    const size_t row = key.at / n.T;
    examples += (shown == 1 ? "" : ", ") + std::string("query ") + std::to_string(row % n.S) +
                " of head " + std::to_string(row / n.S % n.H) +
                (n.B > 1 ? " of batch " + std::to_string(row / n.S / n.H) : "") +
                " does not see key " + std::to_string(key.at % n.T);
  }
  return OtherKeys{
      {"keys_dropped", std::to_string(CountLost(keys)) + " of " + std::to_string(keys.size()) +
                           " keys have no weight, in most heads others, as if they were dropped "
                           "at random: " +
                           examples + " ..."},
      CountsWithout(keys, plain)};
}

}  // namespace sextant::oracle
