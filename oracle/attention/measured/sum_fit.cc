#include "oracle/attention/measured/sum_fit.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/fitted_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A simpler rule is dropped if another leaves so much less.
constexpr double kBetter = 4;

// Row `row` of head h, with the fitted scores.
std::vector<double> ScoresIn(const PlainAttention& plain, const ScoreFit& fit, size_t row) {
  const HeadFit& head = fit.heads[row / plain.sizes().S % plain.sizes().H];
  return plain.ScoresOf(RowInHead(plain.sizes(), row, head.query), head.key, head.factor,
                        fit.clips);
}

}  // namespace

std::optional<MaskedScore> MaskedScoreOf(const PlainAttention& plain, const AskedWeights& weights,
                                         const ScoreFit& fit) {
  const AttentionSizes& n = plain.sizes();
  std::vector<double> found, added;  // the scores of masked keys by their weights, less their own
  for (size_t h = 0; h < n.H; ++h) {
    for (const size_t row : SampledRows(n, h)) {
      const auto weight = weights.RowOf(row);
      const std::vector<double> scores = ScoresIn(plain, fit, row);
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

// What is known of the sum of a row, in units of e^(its largest score).
struct RowSum {
  size_t head;
  double sum;      // of the weights that the subject gives
  double keys;     // sum of e^(score - largest) over its keys
  double largest;  // the largest score
  double sink;     // e^(sink - largest)
  double Expected() const { return keys / (keys + sink); }
  double Other() const { return keys / sum - keys; }  // what is in the sum beside the keys
};

class Sums {
 public:
  Sums(const PlainAttention& plain, const AskedWeights& weights, const ScoreFit& fit,
       const MeasuredParts& parts)
      : plain_(plain), n_(plain.sizes()) {
    for (size_t h = 0; h < n_.H; ++h) {
      sinks_.push_back(plain.SinkOf(h * n_.S));
      for (const size_t row : SampledRows(n_, h)) Add(weights, fit, parts, row, h);
    }
  }

  // The largest error of the sums by a rule, relative to 1: `other` is what it adds to the keys.
  double Distance(const std::function<double(const RowSum&)>& other, double gain = 1) const {
    double sum = 0;
    for (const RowSum& row : rows_)
      sum += std::abs(row.sum - gain * row.keys / (row.keys + other(row)));
    return sum / static_cast<double>(std::max<size_t>(rows_.size(), 1));
  }
  double LargestDifference() const {
    double most = 0;
    for (const RowSum& row : rows_) most = std::max(most, std::abs(row.sum - row.Expected()));
    return most;
  }
  // Least squares of count in: other = sink + count * term.
  MeasuredNumber Count(const std::function<double(const RowSum&)>& term) const {
    double xx = 0, xy = 0, rest = 0;
    for (const RowSum& row : rows_) {
      xx += term(row) * term(row);
      xy += term(row) * (row.Other() - row.sink);
    }
    const double count = xy / xx;
    for (const RowSum& row : rows_) rest += std::pow(row.Other() - row.sink - count * term(row), 2);
    return {count, 6 * std::sqrt(rest / static_cast<double>(rows_.size()) / xx)};
  }
  MeasuredNumber Gain() const {
    double xx = 0, xy = 0, worst = 0;
    for (const RowSum& row : rows_) {
      xx += row.Expected() * row.Expected();
      xy += row.Expected() * row.sum;
    }
    for (const RowSum& row : rows_)
      worst = std::max(worst, std::abs(row.sum / row.Expected() - xy / xx));
    return {xy / xx, worst};
  }
  const std::vector<double>& sinks() const { return sinks_; }
  bool HasSink() const { return !sinks_.empty() && sinks_[0] > -kInfinity; }
  bool IsEmpty() const { return rows_.empty(); }

 private:
  void Add(const AskedWeights& weights, const ScoreFit& fit, const MeasuredParts& parts, size_t row,
           size_t h) {
    if (!(weights.sums[row] > 0)) return;
    const std::vector<double> scores = ScoresIn(plain_, fit, row);
    RowSum sum{h, weights.sums[row], 0, -kInfinity, 0};
    const auto count = [&](size_t t) {
      return parts.counts ? parts.counts(row / (n_.H * n_.S), row % n_.S, t)
                          : plain_.CountOf(row, t);
    };
    for (size_t t = 0; t < n_.T; ++t)
      if (count(t) > 0) sum.largest = std::max(sum.largest, scores[t]);
    if (!std::isfinite(sum.largest)) return;
    for (size_t t = 0; t < n_.T; ++t)
      if (count(t) > 0) sum.keys += count(t) * std::exp(scores[t] - sum.largest);
    sum.sink = std::exp(sinks_[h] - sum.largest);
    rows_.push_back(sum);
  }

  const PlainAttention& plain_;
  const AttentionSizes n_;
  std::vector<double> sinks_;
  std::vector<RowSum> rows_;
};

// A rule for the terms beside the keys, and its distance.
struct Rule {
  SumFit fit;
  double distance = kInfinity;
  double zeros = 0, increase = 0, gain = 1;
  bool sink_from_largest = false;
};

std::string NumberOf(const MeasuredNumber& measured, double& value) {
  if (std::abs(measured.value - std::round(measured.value)) <= measured.bar &&
      std::round(measured.value) > 0 && measured.bar < 0.5)
    value = std::round(measured.value);
  else if (const auto number = ShortNumber(measured))
    value = number->value;
  else
    return value = measured.value, TextOf(measured);
  return ShortText(value);
}

// " (the keys are padded to a multiple of 8 or 16)"
std::string PaddingText(double zeros, size_t T) {
  constexpr size_t kLargestTile = 256;
  std::string text;
  for (size_t tile = 2; tile <= kLargestTile; tile *= 2)
    if (zeros > 1 && static_cast<double>((tile - T % tile) % tile) == zeros)
      text += (text.empty() ? "" : " or ") + std::to_string(tile);
  return text.empty() ? text : " (the keys are padded to a multiple of " + text + ")";
}

std::vector<Rule> RulesOf(const Sums& sums, size_t T) {
  std::vector<Rule> rules;
  {
    Rule rule;
    const std::string number =
        NumberOf(sums.Count([](const RowSum& r) { return std::exp(-r.largest); }), rule.zeros);
    rule.fit.name = "zeros_in_the_sum";
    rule.fit.text = "e^0 is added " + number + " times to the sum of e^score";
    rule.fit.text += PaddingText(rule.zeros, T);
    rule.distance =
        sums.Distance([&](const RowSum& r) { return r.sink + rule.zeros * std::exp(-r.largest); });
    if (rule.zeros > 0) rules.push_back(rule);
  }
  {
    Rule rule;
    const std::string number =
        NumberOf(sums.Count([](const RowSum&) { return 1.0; }), rule.increase);
    rule.fit.name = "sum_increased";
    rule.fit.text = number + " is added to the sum of e^(score - largest)";
    rule.distance = sums.Distance([&](const RowSum& r) { return r.sink + rule.increase; });
    if (rule.increase > 0) rules.push_back(rule);
  }
  {
    Rule rule;
    rule.fit.name = "y_multiplied";
    rule.fit.text = "y is multiplied by " + NumberOf(sums.Gain(), rule.gain);
    rule.distance = sums.Distance([](const RowSum& r) { return r.sink; }, rule.gain);
    rules.push_back(rule);
  }
  return rules;
}

// The largest score is subtracted from the others alone.
Rule SinkFromLargest(const Sums& sums) {
  Rule rule;
  rule.fit = {"sink_not_shifted",
              "e^sink is added to the sum of e^(score - largest), expected e^(sink - largest)",
              {}};
  rule.sink_from_largest = true;
  rule.distance = sums.Distance([&](const RowSum& r) { return std::exp(sums.sinks()[r.head]); });
  return rule;
}

// Sinks that are taken for the right ones.
std::vector<Rule> RulesOfSinks(const Sums& sums) {
  const std::vector<double>& right = sums.sinks();
  const size_t H = right.size();
  std::vector<Rule> rules;
  const auto add = [&](const std::string& name, const std::string& text, auto sink_of) {
    Rule rule;
    rule.fit = {name, text, {}};
    for (size_t h = 0; h < H; ++h) rule.fit.sinks.push_back(sink_of(h));
    rule.distance = sums.Distance(
        [&](const RowSum& r) { return std::exp(rule.fit.sinks[r.head] - r.largest); });
    rules.push_back(std::move(rule));
  };
  rules.push_back(SinkFromLargest(sums));
  add("sink_missing", "the sink is not in the sum", [](size_t) { return -kInfinity; });
  add("sink_of_zero", "every sink is 0", [](size_t) { return 0.0; });
  for (const double factor : {-1.0, 2.0, 0.5})
    add("sink_multiplied", "the sink is multiplied by " + ShortText(factor),
        [&](size_t h) { return factor * right[h]; });
  for (size_t shift = 1; shift < H; ++shift)
    add("sink_of_other_head",
        "head h has the sink of head (h + " + std::to_string(shift) + ") mod " + std::to_string(H),
        [&](size_t h) { return right[(h + shift) % H]; });
  add("sink_of_other_head", "head h has the sink of head H - 1 - h",
      [&](size_t h) { return right[H - 1 - h]; });
  for (size_t one = 0; one < H; ++one)
    add("sink_of_other_head", "every head has the sink of head " + std::to_string(one),
        [&](size_t) { return right[one]; });
  double count = 0;
  MeasuredNumber measured = sums.Count([](const RowSum& r) { return r.sink; });
  measured.value += 1;
  const std::string number = NumberOf(measured, count);
  if (count > 0)
    add("sink_repeated", "the sink counts " + number + " times",
        [&](size_t h) { return right[h] + std::log(count); });
  return rules;
}

}  // namespace

std::optional<SumFit> FitSum(const PlainAttention& plain, DType dtype, const AskedWeights& weights,
                             const ScoreFit& fit, MeasuredParts& parts) {
  const Sums sums(plain, weights, fit, parts);
  // A sum of T weights, each rounded, has at most T + 1 roundings in the dtype; sums are of weights
  // with different errors, in the subject and here.
  const double error = 2 * (static_cast<double>(plain.sizes().T) + 1) * UnitRoundoffOf(dtype);
  if (sums.IsEmpty() || parts.masked_score || sums.LargestDifference() <= error)
    return std::nullopt;
  std::vector<Rule> rules = RulesOf(sums, plain.sizes().T);
  if (sums.HasSink())
    for (Rule& rule : RulesOfSinks(sums)) rules.push_back(std::move(rule));
  const Rule& best = *std::ranges::min_element(rules, {}, &Rule::distance);
  if (best.distance * kBetter > sums.Distance([](const RowSum& r) { return r.sink; }))
    return std::nullopt;
  parts.zeros = best.zeros;
  parts.increase = best.increase;
  parts.gain = best.gain;
  parts.sink_from_largest = best.sink_from_largest;
  return best.fit;
}

}  // namespace sextant::oracle
