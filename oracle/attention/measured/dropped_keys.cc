#include "oracle/attention/measured/dropped_keys.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "oracle/diagnosis/fitted_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewest = 8;      // keys that are lost
constexpr size_t kFewVisible = 3;  // keys of a row that may all be lost

struct Key {
  size_t at;          // in [B,H,S,T]
  double share;       // its right weight
  double of_largest;  // the same, divided by that of the largest key of its row
  bool is_lost;
};

// The keys that the mask shows and whose right weight exceeds the rounding error of 1; none if a
// query sees a hidden one. Rows that see more than `most_without` keys and have no weight were not
// written.
std::optional<std::vector<Key>> KeysOf(const AskedWeights& weights, const PlainAttention& plain,
                                       DType dtype, size_t most_without) {
  const AttentionSizes& n = plain.sizes();
  std::vector<Key> keys;
  for (size_t row = 0; row < n.rows(); ++row) {
    const auto got = weights.RowOf(row);
    const std::vector<double> right = plain.WeightsOf(row);
    size_t visible = 0, weighted = 0;
    double largest = 0;
    for (size_t t = 0; t < n.T; ++t) {
      weighted += got[t] != 0;
      if (plain.CountOf(row, t) == 0 && got[t] != 0) return std::nullopt;
      if (plain.CountOf(row, t) == 0) continue;
      ++visible;
      largest = std::max(largest, right[t]);
    }
    if (weighted == 0 && visible > most_without) continue;
    for (size_t t = 0; t < n.T; ++t)
      if (plain.CountOf(row, t) > 0 && right[t] > UnitRoundoffOf(dtype))
        keys.push_back({row * n.T + t, right[t], right[t] / largest, got[t] == 0});
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

}  // namespace

std::optional<OtherKeys> SmallKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                          DType dtype) {
  const auto keys = KeysOf(weights, plain, dtype, 0);
  if (!keys || CountLost(*keys) < kFewest) return std::nullopt;
  const std::pair<double Key::*, const char*> measures[] = {
      {&Key::share, "keys whose weight is less than "},
      {&Key::of_largest, "keys whose e^(score - largest) is less than "}};
  for (const auto& [measure, text] : measures) {
    double most_lost = 0, least_kept = kInfinity;
    for (const Key& key : *keys)
      key.is_lost ? most_lost = std::max(most_lost, key.*measure)
                  : least_kept = std::min(least_kept, key.*measure);
    if (!(most_lost < least_kept) || std::isinf(least_kept)) continue;
    // Roundings of two weights may exchange them.
    if (most_lost <= 4 * UnitRoundoffOf(dtype)) return std::nullopt;
    const MeasuredNumber least{(most_lost + least_kept) / 2, (least_kept - most_lost) / 2};
    return OtherKeys{{"small_weights_dropped", text + ShortestText(least) + " are dropped"},
                     CountsWithout(*keys, plain)};
  }
  return std::nullopt;
}

std::optional<OtherKeys> AnyKeysDropped(const AskedWeights& weights, const PlainAttention& plain,
                                        DType dtype) {
  const auto keys = KeysOf(weights, plain, dtype, kFewVisible);
  if (!keys || CountLost(*keys) < kFewest) return std::nullopt;
  const AttentionSizes& n = plain.sizes();
  std::string examples;
  size_t shown = 0;
  for (const Key& key : *keys) {
    constexpr size_t kShown = 3;
    if (!key.is_lost || ++shown > kShown) continue;
    const size_t row = key.at / n.T;
    examples += (shown == 1 ? "" : ", ") + std::string("query ") + std::to_string(row % n.S) +
                " of head " + std::to_string(row / n.S % n.H) + " does not see key " +
                std::to_string(key.at % n.T);
  }
  return OtherKeys{
      {"keys_dropped", std::to_string(CountLost(*keys)) + " of " + std::to_string(keys->size()) +
                           " keys have no weight, in each head others, as if they were dropped "
                           "at random: " +
                           examples + " ..."},
      CountsWithout(*keys, plain)};
}

}  // namespace sextant::oracle
