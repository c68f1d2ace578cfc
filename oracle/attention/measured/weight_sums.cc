#include "oracle/attention/measured/weight_sums.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

std::vector<double> FittedScores(const PlainAttention& plain, const ScoreFit& fit, size_t row) {
  const HeadFit& head = fit.heads[row / plain.sizes().S % plain.sizes().H];
  return plain.ScoresOf(RowInHead(plain.sizes(), row, head.query), head.key, head.factor,
                        fit.clips);
}

WeightSums::WeightSums(const PlainAttention& plain, const AskedWeights& weights,
                       const ScoreFit& fit, const MeasuredParts& parts)
    : plain_(plain), n_(plain.sizes()) {
  for (size_t h = 0; h < n_.H; ++h) {
    sinks_.push_back(plain.SinkOf(h * n_.S));
    for (const size_t row : SampledRows(n_, h)) Add(weights, fit, parts, row, h);
  }
}

void WeightSums::Add(const AskedWeights& weights, const ScoreFit& fit, const MeasuredParts& parts,
                     size_t row, size_t h) {
  if (!(weights.sums[row] > 0)) return;
  const std::vector<double> scores = FittedScores(plain_, fit, row);
  WeightSum sum{row, h, weights.sums[row], 0, -kInfinity, 0};
  const auto count = [&](size_t t) {
    return parts.counts ? parts.counts(row / (n_.H * n_.S), h, row % n_.S, t)
                        : plain_.CountOf(row, t);
  };
  for (size_t t = 0; t < n_.T; ++t)
    if (count(t) > 0) sum.largest = std::max(sum.largest, scores[t]);
  if (!std::isfinite(sum.largest)) return;
  for (size_t t = 0; t < n_.T; ++t) {
    const double term = std::exp(scores[t] - sum.largest);
    if (count(t) > 0) sum.keys += count(t) * term;
    if (count(t) > 0) sum.scores.emplace_back(t, scores[t] - sum.largest);
    if (count(t) == 0) sum.hidden += term, ++sum.hidden_keys;
    if (count(t) == 0 && plain_.CountOf(row, t) > 0) sum.lost += term;
  }
  sum.sink = std::exp(sinks_[h] - sum.largest);
  rows_.push_back(sum);
}

double WeightSums::Distance(const Other& other, double gain) const {
  double sum = 0;
  for (const WeightSum& row : rows_)
    sum += std::abs(row.sum - gain * row.keys / (row.keys + other(row)));
  return sum / static_cast<double>(std::max<size_t>(rows_.size(), 1));
}

double WeightSums::DistanceOfHead(size_t head, const Other& other) const {
  double sum = 0;
  for (const WeightSum& row : rows_)
    if (row.head == head) sum += std::abs(row.sum - row.keys / (row.keys + other(row)));
  return sum;
}

double WeightSums::LargestDifference() const {
  double most = 0;
  for (const WeightSum& row : rows_) most = std::max(most, std::abs(row.sum - row.Expected()));
  return most;
}

MeasuredNumber WeightSums::Count(const Other& term) const {
  double xx = 0, xy = 0, rest = 0;
  for (const WeightSum& row : rows_) {
    xx += term(row) * term(row);
    xy += term(row) * (row.Other() - row.sink);
  }
  const double count = xy / xx;
  for (const WeightSum& row : rows_)
    rest += std::pow(row.Other() - row.sink - count * term(row), 2);
  return {count, 6 * std::sqrt(rest / static_cast<double>(rows_.size()) / xx)};
}

MeasuredNumber WeightSums::Gain(const Other& other) const {
  const auto expected = [&](const WeightSum& row) { return row.keys / (row.keys + other(row)); };
  double xx = 0, xy = 0, worst = 0;
  for (const WeightSum& row : rows_) {
    xx += expected(row) * expected(row);
    xy += expected(row) * row.sum;
  }
  for (const WeightSum& row : rows_)
    worst = std::max(worst, std::abs(row.sum / expected(row) - xy / xx));
  return {xy / xx, worst};
}

MeasuredNumber WeightSums::FactorOfSinks() const {
  double xx = 0, xy = 0, rest = 0, count = 0;
  for (const bool is_fitted : {false, true}) {
    for (const WeightSum& row : rows_) {
      const double right = sinks_[row.head], found = std::log(row.Other()) + row.largest;
      if (!std::isfinite(found) || !std::isfinite(right)) continue;
      if (is_fitted)
        rest += std::pow(found - xy / xx * right, 2), ++count;
      else
        xx += right * right, xy += right * found;
    }
  }
  return {xy / xx, 6 * std::sqrt(rest / count / xx)};
}

std::string NumberOf(const MeasuredNumber& measured, double& value) {
  if (measured.MayBe(std::round(measured.value)) && std::round(measured.value) > 0 &&
      measured.bar < 0.5)
    value = std::round(measured.value);
  else if (const auto number = ShortNumber(measured))
    value = *number;
  else
    return value = measured.value, TextOf(measured);
  return ShortText(value);
}

}  // namespace sextant::oracle
