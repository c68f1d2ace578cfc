#include "reference/attention/softmax_mean.h"

#include <algorithm>
#include <cmath>

#include "reference/number/recipe/rounding_units.h"

namespace sextant {

SoftmaxRow<Counted>::WeightedMean::WeightedMean(const SoftmaxRow& row)
    : row_(row), rule_(CurrentRule()), count_(static_cast<double>(row.count_)) {
  constexpr double kLeast = 0x1p-900;  // double_double.h
  const std::vector<StoredWeight>& stored = row.StoredWeights();
  weights_.relative_drift = (row.drift_ + row.own_drift_) * kBoundUp * kBoundUp;
  const CountedNumbers& p = row.weights_;
  weights_.high.assign(p.high, p.high + row.count_);
  weights_.low.assign(p.low, p.low + row.count_);
  weights_.drift.assign(p.drift, p.drift + row.count_);
  weights_.rounding = row.rounding_;
  for (size_t j = 0; j < row.count_; ++j) {
    weights_.rise.push_back(p.high[j] * row.rise_[j]);
    weights_.most.push_back(stored[j].most);
    weights_.storing.push_back(stored[j].error);
    storing_ += stored[j].error;
    takes_plain_ = takes_plain_ && (p.high[j] == 0 || p.high[j] >= kLeast);
  }
}

double SoftmaxRow<Counted>::WeightedMean::Unit() const {
  return rule_.exact ? 0 : UnitRoundoffOf(rule_.format);
}

void SoftmaxRow<Counted>::WeightedMean::OfPlain(std::span<const float* const> rows, size_t width,
                                                std::span<Counted> y) const {
  std::vector<MeanSums> sums;
  // The mean of one row is exact, at level 1 too.
  SumPlainColumns(weights_, rows, width, this_context.double_centers && rows.size() > 1, sums);
  for (size_t e = 0; e < y.size(); ++e) y[e] = From(sums[e]);
}

MeanSums SoftmaxRow<Counted>::WeightedMean::SumsOf(std::span<const Counted> given) const {
  MeanSums sums{.least = kInfinity, .most = -kInfinity};
  std::vector<Counted> values;
  DoubleDouble centre;
  for (size_t j = 0; j < weights_.high.size(); ++j) {
    const Counted& v = values.emplace_back(Converted(given[j]));
    const double magnitude = v.Magnitude() + v.error();
    centre =
        Sum(centre, DoubleDouble(weights_.high[j], weights_.low[j]) * v.center(), sums.rounding);
    sums.drift += weights_.high[j] * v.drift() + magnitude * weights_.drift[j];
    sums.least = std::min(sums.least, v.center().high - v.error());
    sums.most = std::max(sums.most, v.center().high + v.error());
    sums.values += (weights_.high[j] + row_.shift_[j]) * v.error();
    const double product = weights_.most[j] * magnitude;
    if (!rule_.exact && !row_.tiled_) sums.products += RoundingError(rule_, product, 0);
    sums.size += product;
    sums.saturated = sums.saturated || v.saturated();
  }
  sums.high = centre.high;
  sums.low = centre.low;
  AddDistances(values, sums);
  return sums;
}

void SoftmaxRow<Counted>::WeightedMean::AddDistances(std::span<const Counted> values,
                                                     MeanSums& sums) const {
  for (size_t j = 0; j < values.size(); ++j) {
    const Counted& v = values[j];
    const double magnitude = v.Magnitude() + v.error();
    const double distance = std::abs(v.center().high - sums.high) + magnitude * 0x1p-50;
    sums.scores += weights_.rise[j] * distance;
    sums.weights += weights_.rounding[j] * magnitude +
                    weights_.storing[j] * (row_.tiled_ ? std::max(magnitude, distance) : magnitude);
  }
}

auto SoftmaxRow<Counted>::WeightedMean::ScoreErrors(const MeanSums& sums, double drift) const
    -> ErrorOfScores {
  const double least_sum = 1 - row_.fall_sum_;  // sum p_j e^-E_j
  const double error =
      (sums.scores + row_.rise_sum_ * (drift + std::abs(sums.high) * 0x1p-50)) / least_sum;
  const double range = sums.most - sums.least;
  const bool only_range = !(least_sum > 0 && error < range);
  return {only_range ? range : error, range, std::max(std::abs(sums.least), std::abs(sums.most)),
          only_range};
}

// The error from all sources.
Counted SoftmaxRow<Counted>::WeightedMean::From(const MeanSums& sums) const {
  double products = sums.products;
  if (!rule_.exact && row_.tiled_)
    products = Unit() * sums.size + (count_ + row_.updates_) * UnderflowErrorOf(rule_);
  const double size = sums.size + products;
  const double rounding = 8 * kDoubleDoubleUnit * size + sums.rounding * (1 + count_ * 0x1p-52);
  const double up = kBoundUp * (1 + count_ * 0x1p-52);
  const double drift = (sums.drift + rounding) * up + count_ * kTinyDrift;
  const ErrorOfScores scores = ScoreErrors(sums, drift);
  double error = scores.error + sums.values + sums.weights + products;
  if (row_.tiled_) error += storing_ * (scores.error + sums.values);  // error of |v_j - y|
  const double largest_mean = std::abs(sums.high) + scores.error + sums.values;
  const double rescaling = row_.updates_ * Unit() * size;
  // sum_error: relative error of the additions; common: relative error common to all weights.
  const auto total = [&](double sum_error, double common) {
    return (error + largest_mean * common + sum_error * size + rescaling) * up;
  };
  const bool saturated =
      sums.saturated || row_.saturated_ || (scores.only_range && scores.range > 0);
  const SumError sum = rule_.exact ? SumError() : RelativeErrorOfSum(rule_, row_.count_);
  const double largest = row_.tiled_ ? count_ * scores.largest : size;
  const bool overflows = !rule_.exact && !(largest * 2 < MaxFinite(rule_.format));
  const DoubleDouble centre(sums.high, sums.low);
  // The permitted error includes rise_sum / (1 - fall_sum) times the drift. Where that is more than
  // half of it, level 1 does not enclose: its permitted errors would be too large.
  const bool is_loose = this_context.double_centers && !(2 * row_.rise_sum_ <= 1 - row_.fall_sum_);
  const double enclosing = is_loose ? kInfinity : row_.Enclosing(drift);
  return Bounded(Counted::Of(centre, enclosing, FormatOf(rule_), saturated),
                 {total(sum.worst, row_.common_), total(sum.likely, row_.likely_common_)},
                 row_.unbounded_ || overflows);
}

}  // namespace sextant
