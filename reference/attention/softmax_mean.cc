// What SoftmaxRow<Counted> makes of its weights: means, and the logarithm of their sum.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/attention/softmax_row.h"
#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// The weights as they are kept, and as they are multiplied.
const std::vector<SoftmaxRow<Counted>::Kept>& SoftmaxRow<Counted>::KeptWeights() const {
  if (!kept_.empty()) return kept_;
  std::vector<StepRule> rules;
  for (const Step step : {Step::kWeigh, Step::kDot}) {
    const InStep at(step);
    rules.push_back(CurrentRule());
  }
  for (const Counted& p : weights_) {
    Kept kept{p.center_.high + p.drift_ + p.error_, 0};
    for (const StepRule& to : rules) {
      if (to.exact || (p.format_ && Contains(to.format, *p.format_))) continue;
      const double error = Rounding(to, kept.most);
      kept.error += error;
      kept.most += error;
    }
    kept_.push_back(kept);
  }
  return kept_;
}

// With weights p~ of exponents that are off, and w' as an implementation keeps them,
//   sum w' v' - sum p v = sum (w' - p~) v' + sum p~ (v' - v) + sum (p~ - p) v,
// and the last is sum p_j (e^D_j - 1) (v_j - y) / sum p_j e^D_j for exponents off by D_j, |D| <= E;
// or less than the range of the values.
Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  Counted y;
  if (weights_.empty()) return y;
  const std::vector<Kept>& kept = KeptWeights();
  const InStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  const size_t n = weights_.size();
  if (n == 1 && !lost_) return Converted(values[0]);  // times 1
  const auto count = static_cast<double>(n);
  const double unit = rule.exact ? 0 : UnitOf(rule.format);
  std::vector<Counted> v;
  v.reserve(n);
  for (size_t j = 0; j < n; ++j) {
    v.push_back(Converted(values[j]));
    y.center_ += weights_[j].center_ * v[j].center_;
    y.saturated_ = y.saturated_ || v[j].saturated_;
  }
  if (!rule.exact) y.format_ = rule.format;
  const double c = y.center_.high;
  double spread = 0, least = kInfinity, most = -kInfinity;  // of the values around their mean
  double inherited = 0, rounded = 0, moved = 0, products = 0, size = 0, drift = 0;
  for (size_t j = 0; j < n; ++j) {
    const double p = weights_[j].center_.high, magnitude = v[j].Magnitude() + v[j].error_;
    const double away = std::abs(v[j].center_.high - c) + magnitude * 0x1p-50;
    spread += p * rise_[j] * away;
    least = std::min(least, v[j].center_.high - v[j].error_);
    most = std::max(most, v[j].center_.high + v[j].error_);
    inherited += (p + shift_[j]) * v[j].error_;
    rounded +=
        own_[j] * magnitude + kept[j].error * (tiled_ ? std::max(magnitude, away) : magnitude);
    moved += kept[j].error;
    const double product = kept[j].most * magnitude;
    if (!rule.exact && !tiled_) products += RoundingError(rule, product, 0);
    size += product;
    drift += p * v[j].drift_ + magnitude * weights_[j].drift_;
  }
  if (!rule.exact && tiled_) products = unit * size + (count + raises_) * LeastOf(rule);
  size += products;
  y.drift_ = (drift + count * size * kDriftUnit) * kBoundUp + count * kTinyDrift;
  const double rest = 1 - falls_;
  spread = (spread + rises_ * (y.drift_ + std::abs(c) * 0x1p-50)) / rest;
  const double range = most - least;
  const bool whole = !(rest > 0 && spread < range);
  if (whole) spread = range;
  y.saturated_ = y.saturated_ || saturated_ || (whole && range > 0);
  double own = spread + inherited + rounded + products;
  if (tiled_) own += moved * (spread + inherited);          // the mean that `away` is from is off
  const double exposed = std::abs(c) + spread + inherited;  // to the error that all share
  const SumError sum = rule.exact ? SumError() : RelativeErrorOfSum(rule, n);
  const double rescaled = raises_ * unit * size, up = kBoundUp * (1 + count * 0x1p-52);
  y.SetError((own + exposed * common_ + sum.worst * size + rescaled) * up,
             (own + exposed * likely_common_ + sum.likely * size + rescaled) * up);
  const double largest = tiled_ ? count * std::max(std::abs(least), std::abs(most)) : size;
  const bool overflows = !rule.exact && !(largest * 2 < MaxFinite(rule.format));
  if (lost_ || overflows || std::isnan(y.error_) || std::isnan(y.drift_))
    y.SetError(kInfinity, kInfinity);
  if (std::isnan(y.drift_)) y.drift_ = 0;
  return y;
}

// c + ln sum: of the exact sum, at most the largest error of an exponent; of an implementation's,
// the errors of its sum, of its logarithm and of its addition. Where it takes logarithms to base 2,
// both parts are multiplied by ln 2 once more.
Counted SoftmaxRow<Counted>::LogOfSum() const {
  const InStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const size_t n = weights_.size();
  const DoubleDouble logarithm = n > 1 ? log(sum_) : DoubleDouble();
  Counted y;
  y.center_ = largest_.center_ + logarithm;
  y.saturated_ = saturated_;
  y.drift_ = largest_.drift_;
  const auto count = static_cast<double>(n);
  if (n > 1) {
    const double size = std::abs(largest_.center_.high) + logarithm.high + 1;
    y.drift_ += 2 * drift_ + (count + size + 8) * kDriftUnit;
  }
  const double farthest = std::log1p(*std::ranges::max_element(rise_));
  const double inherited = std::min(farthest, std::max(std::log1p(rises_), -std::log1p(-falls_)));
  if (!rule.exact) y.format_ = rule.format;
  const auto with_sum = [&](double of_sum) {
    if (rule.exact) return inherited * kBoundUp;
    const double unit = UnitOf(rule.format);
    double error = inherited, size = std::abs(largest_.center_.high) + largest_.error_;
    if (n > 1) {
      const double off = of_sum + raises_ * unit + count * rule.ulps * LeastOf(rule);
      error += off < 1 ? -std::log1p(-off) : kInfinity;
      error += rule.ulps * UlpOf(rule.format, logarithm.high + error);
      error += RoundingError(rule, std::abs(y.center_.high) + error, 0);
      size += logarithm.high;
    }
    return (tiled_ ? error + 3 * unit * (size + error) : error) * kBoundUp;
  };
  const SumError sum = n > 1 && !rule.exact ? RelativeErrorOfSum(rule, n) : SumError();
  y.SetError(with_sum(sum.worst), with_sum(sum.likely));
  if (lost_ || std::isnan(y.error_) || std::isnan(y.drift_)) y.SetError(kInfinity, kInfinity);
  if (std::isnan(y.drift_)) y.drift_ = 0;
  return y;
}

}  // namespace sextant
