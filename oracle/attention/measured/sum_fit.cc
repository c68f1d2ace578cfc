#include "oracle/attention/measured/sum_fit.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/measured/weight_sums.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A simpler rule is dropped if another leaves so much less.
constexpr double kBetter = 4;

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
  const bool adds = of_sum * kBetter < of_score;
  if (!adds && of_score * kBetter > of_sum) return std::nullopt;
  const double number = adds ? sum : score, bar = adds ? of_sum : of_score;
  if (adds && std::abs(number) <= kBetter * bar) return std::nullopt;  // they count as others
  const bool is_whole = std::abs(number - std::round(number)) <= kBetter * bar;
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

std::vector<SumRule> RulesOf(const WeightSums& sums, size_t T) {
  std::vector<SumRule> rules;
  {
    SumRule rule;
    const std::string number =
        NumberOf(sums.Count([](const WeightSum& r) { return std::exp(-r.largest); }), rule.zeros);
    rule.fit.name = "zeros_in_the_sum";
    rule.fit.text = "e^0 is added " + number + " times to the sum of e^score";
    rule.fit.text += PaddingText(rule.zeros, T);
    rule.distance = sums.Distance(
        [&](const WeightSum& r) { return r.sink + rule.zeros * std::exp(-r.largest); });
    if (rule.zeros > 0) rules.push_back(rule);
  }
  {
    SumRule rule;
    const std::string number =
        NumberOf(sums.Count([](const WeightSum&) { return 1.0; }), rule.increase);
    rule.fit.name = "sum_increased";
    rule.fit.text = number + " is added to the sum of e^(score - largest)";
    rule.distance = sums.Distance([&](const WeightSum& r) { return r.sink + rule.increase; });
    if (rule.increase > 0) rules.push_back(rule);
  }
  {
    SumRule rule;
    rule.fit.name = "y_multiplied";
    rule.fit.text = "y is multiplied by " + NumberOf(sums.Gain(), rule.gain);
    rule.distance = sums.Distance([](const WeightSum& r) { return r.sink; }, rule.gain);
    rules.push_back(rule);
  }
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
  std::vector<SumRule> rules = RulesOf(sums, plain.sizes().T);
  if (sums.HasSink())
    for (SumRule& rule : RulesOfSinks(sums)) rules.push_back(std::move(rule));
  const SumRule& best = *std::ranges::min_element(rules, {}, &SumRule::distance);
  if (best.distance * kBetter > sums.Distance([](const WeightSum& r) { return r.sink; }))
    return std::nullopt;
  parts.zeros = best.zeros;
  parts.increase = best.increase;
  parts.gain = best.gain;
  parts.sink_from_largest = best.sink_from_largest;
  return best.fit;
}

}  // namespace sextant::oracle
