#include "oracle/attention/measured/sum_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/attention/measured/weight_sums.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A simpler rule is dropped if another leaves so much less.
constexpr double kBetterRule = 4;

}  // namespace

std::optional<MaskedScore> MaskedScoreOf(const PlainAttention& plain, const AskedWeights& weights,
                                         const ScoreFit& fit) {
  const AttentionSizes& n = plain.sizes();
  std::vector<double> found, added;  // the scores of masked keys by their weights, less their own
  for (size_t h = 0; h < n.H; ++h) {
    for (const size_t row : SampledRows(n, h)) {
      const auto weight = weights.RowOf(row);
      const std::vector<double> scores = FittedScores(plain, fit, row);
      double constant = 0, count = 0;
      for (size_t t = 0; t < n.T; ++t)
        if (plain.CountOf(row, t) > 0 && weight[t] > 0)
          constant += std::log(weight[t]) - scores[t], ++count;
      for (size_t t = 0; t < n.T && count > 0; ++t) {
        if (plain.CountOf(row, t) > 0 || !(weight[t] > 0)) continue;
        found.push_back(std::log(weight[t]) - constant / count);
        added.push_back(found.back() - scores[t]);
      }
    }
  }
  // Two numbers always have a mean between them.
  if (found.size() < 3) return std::nullopt;
  const auto fitted = [](const std::vector<double>& x) {
    double mean = 0, squares = 0;
    for (const double one : x) mean += one / static_cast<double>(x.size());
    for (const double one : x) squares += (one - mean) * (one - mean);
    return std::pair(mean, std::sqrt(squares / static_cast<double>(x.size() - 1)));
  };
  const auto [score, of_score] = fitted(found);
  const auto [sum, of_sum] = fitted(added);
  const bool adds = of_sum * kBetterRule < of_score;
  if (!adds && of_score * kBetterRule > of_sum) return std::nullopt;
  const double number = adds ? sum : score, bar = adds ? of_sum : of_score;
  if (adds && std::abs(number) <= kBetterRule * bar) return std::nullopt;  // they count as others
  const bool is_whole = std::abs(number - std::round(number)) <= kBetterRule * bar;
  return MaskedScore{is_whole ? std::round(number) : number, adds};
}

namespace {

// " (the keys are padded to a multiple of 8 or 16)"
std::string PaddingText(double zeros, size_t T) {
  constexpr size_t kLargestTile = 256;
  std::string text;
  for (size_t tile = 2; tile <= kLargestTile; tile *= 2)
    if (zeros > 1 && static_cast<double>((tile - T % tile) % tile) == zeros)
      text += (text.empty() ? "" : " or ") + std::to_string(tile);
  return text.empty() ? text : " (the keys are padded to a multiple of " + text + ")";
}

// What the sum has more if those of earlier tiles are not rescaled: each term is relative to the
// largest score up to the end of its tile.
double MoreByTiles(const WeightSum& row, size_t tile) {
  double more = 0, largest = -kInfinity;
  size_t end = 0;
  for (size_t j = 0; j < row.scores.size(); ++j) {
    const auto& [key, score] = row.scores[j];
    for (; end < row.scores.size() && row.scores[end].first / tile <= key / tile; ++end)
      largest = std::max(largest, row.scores[end].second);
    more += std::exp(score - largest) - std::exp(score);
  }
  return more;
}

using MoreTerms = MeasuredParts::MoreTerms;

// The sum is rescaled although the weights are those of tiles: other = keys^2 / (keys + more) -
// keys, so that the weights sum up to (keys + more) / keys.
double LessByTiles(const WeightSum& row, size_t tile) {
  return row.keys * row.keys / (row.keys + MoreByTiles(row, tile)) - row.keys;
}

SumRule FittedRuleOf(const WeightSums& sums, SumFit fit, const WeightSums::Other& more,
                     std::function<void(MeasuredParts&)> set) {
  SumRule rule{.fit = std::move(fit), .set = std::move(set)};
  rule.distance = sums.Distance([&](const WeightSum& r) { return r.sink + more(r); });
  return rule;
}

// Terms that depend on the keys.
void AddTermsOfKeys(const WeightSums& sums, size_t tile_of_weights, std::vector<SumRule>& rules) {
  rules.push_back(FittedRuleOf(
      sums,
      {"masked_keys_in_the_sum",
       "the sum has the terms of the keys that the mask hides, too: masked after the softmax",
       {}},
      [](const WeightSum& r) { return r.hidden; },
      [](MeasuredParts& parts) { parts.more_terms = MoreTerms::kHidden; }));
  rules.push_back(FittedRuleOf(
      sums,
      {"zeros_for_masked_keys", "e^0 is added to the sum for each key that the mask hides", {}},
      [](const WeightSum& r) { return r.hidden_keys * std::exp(-r.largest); },
      [](MeasuredParts& parts) { parts.more_terms = MoreTerms::kZerosOfHidden; }));
  if (tile_of_weights > 0)
    rules.push_back(FittedRuleOf(
        sums, {"sum_rescaled", "the sum is rescaled", {}},
        [=](const WeightSum& r) { return LessByTiles(r, tile_of_weights); },
        [](MeasuredParts& parts) { parts.has_right_sum = true; }));
  for (size_t tile = 4; tile < sums.sizes().T && tile <= 256; tile *= 2)
    rules.push_back(FittedRuleOf(
        sums,
        {"sum_not_rescaled",
         "the sum is not rescaled where a later tile of " + std::to_string(tile) +
             " keys has a larger score, the values are",
         {}},
        [=](const WeightSum& r) { return MoreByTiles(r, tile); },
        [=](MeasuredParts& parts) {
          parts.more_terms = MoreTerms::kTiles;
          parts.sum_tile = tile;
        }));
}

// A factor of all weights; with the sum of the keys that count, or of all that the mask shows, as
// if weights were dropped after the softmax.
void AddGains(const WeightSums& sums, std::vector<SumRule>& rules) {
  double gain = 0;
  const auto right = [](const WeightSum& r) { return r.sink; };
  const std::string of_seen = NumberOf(sums.Gain(right), gain);
  rules.push_back({.fit = {"y_multiplied", "y is multiplied by " + of_seen, {}},
                   .distance = sums.Distance(right, gain),
                   .set = [=](MeasuredParts& parts) { parts.gain = gain; }});
  const auto with_lost = [](const WeightSum& r) { return r.sink + r.lost; };
  const MeasuredNumber measured = sums.Gain(with_lost);
  const bool is_1 = measured.MayBe(1);
  std::string text = "the sum has the terms of the keys that are not seen, too";
  double factor = 1;
  if (!is_1) text += ", and y is multiplied by " + NumberOf(measured, factor) + ", as by a dropout";
  rules.push_back({.fit = {"lost_keys_in_the_sum", text, {}},
                   .distance = sums.Distance(with_lost, factor),
                   .set = [=](MeasuredParts& parts) {
                     parts.more_terms = MoreTerms::kLost;
                     parts.gain = factor;
                   }});
}

std::vector<SumRule> RulesOf(const WeightSums& sums, size_t tile_of_weights) {
  std::vector<SumRule> rules;
  double number = 0;
  const std::string zeros =
      NumberOf(sums.Count([](const WeightSum& r) { return std::exp(-r.largest); }), number);
  if (number > 0)
    rules.push_back(FittedRuleOf(
        sums,
        {"zeros_in_the_sum",
         "e^0 is added " + zeros + " times to the sum of e^score" +
             PaddingText(number, sums.sizes().T),
         {}},
        [=](const WeightSum& r) { return number * std::exp(-r.largest); },
        [=](MeasuredParts& parts) { parts.zeros = number; }));
  const std::string increase = NumberOf(sums.Count([](const WeightSum&) { return 1.0; }), number);
  if (number > 0)
    rules.push_back(FittedRuleOf(
        sums, {"sum_increased", increase + " is added to the sum of e^(score - largest)", {}},
        [=](const WeightSum&) { return number; },
        [=](MeasuredParts& parts) { parts.increase = number; }));
  AddGains(sums, rules);
  AddTermsOfKeys(sums, tile_of_weights, rules);
  return rules;
}

}  // namespace

std::optional<SumFit> FitSum(const PlainAttention& plain, DType dtype, const AskedWeights& weights,
                             const ScoreFit& fit, MeasuredParts& parts) {
  const WeightSums sums(plain, weights, fit, parts);
  // A sum of T weights, each rounded, has at most T + 1 roundings in the dtype; sums are of weights
  // with different errors, in the subject and here.
  const double error = 2 * (static_cast<double>(plain.sizes().T) + 1) * UnitRoundoffOf(dtype);
  if (sums.IsEmpty() || parts.masked_score || sums.LargestDifference() <= error)
    return std::nullopt;
  std::vector<SumRule> rules = RulesOf(sums, fit.tile);
  if (sums.HasSink())
    for (SumRule& rule : RulesOfSinks(sums)) rules.push_back(std::move(rule));
  const SumRule& best = *std::ranges::min_element(rules, {}, &SumRule::distance);
  if (!(best.distance * kBetterRule <= sums.Distance([](const WeightSum& r) { return r.sink; })))
    return std::nullopt;
  if (best.set) best.set(parts);
  return best.fit;
}

}  // namespace sextant::oracle
