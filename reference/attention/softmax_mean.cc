#include "reference/attention/softmax_mean.h"

#include <algorithm>
#include <cmath>

#include "reference/number/rounding_units.h"

namespace sextant {
SoftmaxRow<Counted>::WeightedMean::WeightedMean(const SoftmaxRow& row,
                                                const std::vector<StoredWeight>& stored,
                                                std::span<const Counted> values)
    : row_(row), stored_(stored), rule_(CurrentRule()) {
  values_.reserve(stored.size());
  for (size_t j = 0; j < stored.size(); ++j) {
    values_.push_back(Converted(values[j]));
    centre_ = Sum(centre_, row.weights_[j].center() * values_[j].center(), rounding_);
    saturated_ = saturated_ || values_[j].saturated();
  }
}

double SoftmaxRow<Counted>::WeightedMean::Unit() const {
  return rule_.exact ? 0 : UnitRoundoffOf(rule_.format);
}

double SoftmaxRow<Counted>::WeightedMean::Distance(size_t j) const {
  return std::abs(values_[j].center().high - centre_.high) + Magnitude(j) * 0x1p-50;
}

auto SoftmaxRow<Counted>::WeightedMean::ScoreErrors(double drift) const -> ErrorOfScores {
  double error = 0, least = kInfinity, most = -kInfinity;
  for (size_t j = 0; j < values_.size(); ++j) {
    const Counted& v = values_[j];
    error += row_.weights_[j].center().high * row_.rise_[j] * Distance(j);
    least = std::min(least, v.center().high - v.error());
    most = std::max(most, v.center().high + v.error());
  }
  const double least_sum = 1 - row_.fall_sum_;  // sum p_j e^-E_j
  error = (error + row_.rise_sum_ * (drift + std::abs(centre_.high) * 0x1p-50)) / least_sum;
  const double range = most - least;
  const bool only_range = !(least_sum > 0 && error < range);
  return {only_range ? range : error, range, std::max(std::abs(least), std::abs(most)), only_range};
}

double SoftmaxRow<Counted>::WeightedMean::ValueErrors() const {
  double error = 0;
  for (size_t j = 0; j < values_.size(); ++j)
    error += (row_.weights_[j].center().high + row_.shift_[j]) * values_[j].error();
  return error;
}

auto SoftmaxRow<Counted>::WeightedMean::WeightErrors() const -> ErrorOfWeights {
  ErrorOfWeights of;
  for (size_t j = 0; j < values_.size(); ++j) {
    const double magnitude = Magnitude(j);
    of.error += row_.rounding_[j] * magnitude +
                stored_[j].error * (row_.tiled_ ? std::max(magnitude, Distance(j)) : magnitude);
    of.storing += stored_[j].error;
  }
  return of;
}

auto SoftmaxRow<Counted>::WeightedMean::ProductErrors() const -> ErrorOfProducts {
  ErrorOfProducts of;
  for (size_t j = 0; j < values_.size(); ++j) {
    const double product = stored_[j].most * Magnitude(j);
    if (!rule_.exact && !row_.tiled_) of.error += RoundingError(rule_, product, 0);
    of.size += product;
  }
  const auto count = static_cast<double>(values_.size());
  if (!rule_.exact && row_.tiled_)
    of.error = Unit() * of.size + (count + row_.updates_) * UnderflowErrorOf(rule_);
  of.size += of.error;
  return of;
}

double SoftmaxRow<Counted>::WeightedMean::Drift() const {
  double drift = 0;
  for (size_t j = 0; j < values_.size(); ++j) {
    const Counted& p = row_.weights_[j];
    drift += p.center().high * values_[j].drift() + Magnitude(j) * p.drift();
  }
  return drift;
}

double SoftmaxRow<Counted>::WeightedMean::TotalError(const ErrorOfScores& scores,
                                                     const ErrorOfWeights& weights,
                                                     const ErrorOfProducts& products,
                                                     double sum_error, double common) const {
  const double of_values = ValueErrors();
  double error = scores.error + of_values + weights.error + products.error;
  if (row_.tiled_) error += weights.storing * (scores.error + of_values);  // error of |v_j - y|
  const double largest_mean = std::abs(centre_.high) + scores.error + of_values;
  const double rescaling = row_.updates_ * Unit() * products.size;
  const double up = kBoundUp * (1 + static_cast<double>(values_.size()) * 0x1p-52);
  return (error + largest_mean * common + sum_error * products.size + rescaling) * up;
}

Counted SoftmaxRow<Counted>::WeightedMean::Result() const {
  const size_t n = values_.size();
  const auto count = static_cast<double>(n);
  const ErrorOfWeights weights = WeightErrors();
  const ErrorOfProducts products = ProductErrors();
  const double rounding = 8 * kDoubleDoubleUnit * products.size + rounding_ * (1 + count * 0x1p-52);
  const double drift = (Drift() + rounding) * kBoundUp + count * kTinyDrift;
  const ErrorOfScores scores = ScoreErrors(drift);
  const bool saturated = saturated_ || row_.saturated_ || (scores.only_range && scores.range > 0);
  const SumError sum = rule_.exact ? SumError() : RelativeErrorOfSum(rule_, n);
  const double largest = row_.tiled_ ? count * scores.largest : products.size;
  const bool overflows = !rule_.exact && !(largest * 2 < MaxFinite(rule_.format));
  return Bounded(Counted::Of(centre_, row_.Enclosing(drift), FormatOf(rule_), saturated),
                 {TotalError(scores, weights, products, sum.worst, row_.common_),
                  TotalError(scores, weights, products, sum.likely, row_.likely_common_)},
                 row_.unbounded_ || overflows);
}

}  // namespace sextant
