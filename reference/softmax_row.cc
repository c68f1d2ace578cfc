#include "reference/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUp = 1 + 0x1p-40;  // for the rounding of a bound's own arithmetic

template <class Real, class Less>
size_t LargestBy(std::span<const Real> scores, Less less) {
  return static_cast<size_t>(std::ranges::max_element(scores, less) - scores.begin());
}

double Difference(double a, double b) { return std::max(0.0, a - b); }

}  // namespace

size_t LargestOf(std::span<const Interval> scores) {
  return LargestBy(scores, [](const Interval& a, const Interval& b) {
    return mpfr_less_p(a.lower().get(), b.lower().get()) != 0;
  });
}
size_t LargestOf(std::span<const Wide> scores) {
  return LargestBy(scores, [](const Wide& a, const Wide& b) { return Less(a, b); });
}
size_t LargestOf(std::span<const Rounded> scores) {
  return LargestBy(scores, [](const Rounded& a, const Rounded& b) { return Less(a, b); });
}

// The scores of a row, and how far from its largest an implementation may see each.
struct SoftmaxRow<Counted>::Range {
  std::vector<Counted> scores;  // converted
  Counted largest;              // of the centres
  double most = -kInfinity;     // no implementation's largest score is above
  bool exact = true;            // all are free of error, so everyone knows the largest

  explicit Range(std::span<const Counted> of) {
    for (const Counted& score : of) {
      scores.push_back(Converted(score));
      const Counted& s = scores.back();
      if (scores.size() == 1 || largest.center_ < s.center_) largest = s;
      most = std::max(most, s.center_.high + Slack(s) + s.error_);
      exact = exact && s.IsExact();
    }
  }
  static double Slack(const Counted& s) { return std::abs(s.center_.high) * 0x1p-50 + s.drift_; }

  DoubleDouble ExponentOf(size_t j) const { return scores[j].center_ - largest.center_; }
  // |score - largest|, of every implementation.
  double Reach(size_t j) const {
    const Counted& s = scores[j];
    return Difference(most + s.error_ + Slack(s), s.center_.high) + std::abs(most) * 0x1p-50;
  }
  bool IsExactIn(DType format, size_t j) const {
    const DoubleDouble exponent = ExponentOf(j);
    return exact && scores[j].center_.low == 0 && largest.center_.low == 0 && exponent.low == 0 &&
           IsRepresentable(format, exponent.high);
  }
  // Error of the exponent and of its exponential, which counts as one of the exponent.
  double ErrorOf(size_t j, const StepRule& rule) const {
    double error = scores[j].error_;
    if (rule.exact || scores.size() == 1) return error;
    const bool known = IsExactIn(rule.format, j);
    if (!known) error += RoundingError(rule.format, Reach(j));
    if (known && ExponentOf(j).high == 0) return error;  // e^0
    const double relative = rule.ulps * std::ldexp(1.0, 1 - GridOf(rule.format).precision);
    return relative < 1 ? error - std::log1p(-relative) : kInfinity;
  }
};

SoftmaxRow<Counted>::SoftmaxRow(std::span<const Counted> scores) {
  if (scores.empty()) return;
  const InStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const Range range(scores);
  std::vector<DoubleDouble> terms;
  double drift = 0;  // the largest of an exponent
  for (size_t j = 0; j < scores.size(); ++j) {
    const Counted& s = range.scores[j];
    const double error = range.ErrorOf(j, rule);
    saturated_ = saturated_ || s.saturated_;
    lost_ = lost_ || !std::isfinite(error) || !std::isfinite(s.center_.high);
    const DoubleDouble exponent = lost_ ? DoubleDouble() : range.ExponentOf(j);
    drift = std::max(drift, s.drift_ + range.largest.drift_ + std::abs(exponent.high) * kDriftUnit);
    terms.push_back(exp(exponent));
    rise_.push_back(std::expm1(error) * kUp);
    fall_.push_back(-std::expm1(-error) * kUp);
  }
  SetWeights(terms, std::expm1(2 * drift));
}

// Of the exact weights: `drift` is the relative error of a term's centre by that of its exponent.
void SoftmaxRow<Counted>::SetWeights(const std::vector<DoubleDouble>& terms, double drift) {
  const StepRule& rule = CurrentRule();
  const size_t n = terms.size();
  const auto count = static_cast<double>(n);
  DoubleDouble sum;
  for (const DoubleDouble& term : terms) sum += term;
  for (const DoubleDouble& term : terms) {
    Counted p;
    p.center_ = term / sum;
    if (n > 1) p.drift_ = p.center_.high * (2 * drift + (count + 4) * kDriftUnit) + kTinyDrift;
    if (!rule.exact) p.format_ = rule.format;
    p.saturated_ = saturated_;
    rises_ += p.center_.high * rise_[weights_.size()];
    falls_ += p.center_.high * fall_[weights_.size()];
    weights_.push_back(p);
  }
  // The sum is at least its largest term, and the exact sum at most n times that.
  double underflow = 0;
  if (!rule.exact && n > 1) {
    const double unit = std::ldexp(1.0, -GridOf(rule.format).precision);
    const double off = RelativeErrorOfSum(rule, n);
    const double of_sum = off < 1 ? std::min(off / (1 - off), count - 1) : count - 1;
    common_ = (1 + of_sum) * (1 + unit) - 1;  // and of its reciprocal
    underflow = rule.ulps * MinSubnormal(rule.format);
    if (!(count * (1 + off) * 2 < MaxFinite(rule.format))) lost_ = true;
  }
  for (size_t j = 0; j < n; ++j) {
    Counted& p = weights_[j];
    shift_.push_back(ShiftOf(j));
    const double most = (p.center_.high + shift_[j]) * (1 + common_);
    own_.push_back(0);
    if (!rule.exact && n > 1) {
      // Terms below the smallest normal number are off by `underflow`, and their sum by n times it.
      own_[j] = RoundingError(rule.format, most) + 2 * underflow * (1 + count * most);
    }
    p.error_ = lost_ ? kInfinity : (shift_[j] + most * common_ + own_[j]) * kUp;
  }
}

// How far exponents that are off may move weight j: with all others moved the other way.
double SoftmaxRow<Counted>::ShiftOf(size_t j) const {
  if (weights_.size() == 1) return 0;
  const double p = weights_[j].center_.high;
  const double rest = (DoubleDouble(1.0) - weights_[j].center_).high;
  const double slack = (rises_ + falls_) * 0x1p-50;  // of the differences
  const double rise = Difference(rises_, p * rise_[j]) + slack;
  const double fall = Difference(falls_, p * fall_[j]) + slack;
  const double up = p * (rise_[j] * rest + fall) / (Difference(rest, fall) + p * (1 + rise_[j]));
  const double down = p * (fall_[j] * rest + rise) / (rest + rise + p * (1 - fall_[j]));
  const double most_up = std::isnan(up) ? rest : std::min(up, rest);
  const double most_down = std::isnan(down) ? p : std::min(down, p);
  return std::max(0.0, std::max(most_up, most_down)) * kUp;
}

// With weights p~ of exponents that are off, and w' as an implementation keeps them,
//   sum w' v' - sum p v = sum (w' - p~) v' + sum p~ (v' - v) + sum (p~ - p) v,
// and the last is sum p_j (e^D_j - 1) (v_j - y) / sum p_j e^D_j for exponents off by D_j, |D| <= E;
// or less than the range of the values.
Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  Counted y;
  if (weights_.empty()) return y;
  StepRule kept;
  {
    const InStep at(Step::kWeigh);
    kept = CurrentRule();
  }
  const InStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  const size_t n = weights_.size();
  if (n == 1 && !lost_) return Converted(values[0]);  // times 1
  std::vector<Counted> v;
  for (size_t j = 0; j < n; ++j) {
    v.push_back(Converted(values[j]));
    y.center_ += weights_[j].center_ * v[j].center_;
    y.saturated_ = y.saturated_ || v[j].saturated_;
  }
  if (!rule.exact) y.format_ = rule.format;
  const double c = y.center_.high;
  double spread = 0, least = kInfinity, most = -kInfinity;  // of the values around their mean
  double inherited = 0, rounded = 0, products = 0, size = 0, drift = 0;
  for (size_t j = 0; j < n; ++j) {
    const double p = weights_[j].center_.high, magnitude = v[j].Magnitude() + v[j].error_;
    const double away = std::abs(v[j].center_.high - c) + magnitude * 0x1p-50;
    spread += p * rise_[j] * away;
    least = std::min(least, v[j].center_.high - v[j].error_);
    most = std::max(most, v[j].center_.high + v[j].error_);
    inherited += (p + shift_[j]) * v[j].error_;
    double weight = p + weights_[j].drift_ + weights_[j].error_, own = own_[j];
    for (const StepRule& to : {kept, rule}) {  // as it is kept, and as it is multiplied
      const bool holds = weights_[j].format_ && Contains(to.format, *weights_[j].format_);
      if (to.exact || holds) continue;
      own += RoundingError(to.format, weight);
      weight += RoundingError(to.format, weight);
    }
    rounded += own * magnitude;
    const double product = weight * magnitude;
    if (!rule.exact) products += RoundingError(rule.format, product);
    size += product;
    drift += p * v[j].drift_ + magnitude * weights_[j].drift_;
  }
  size += products;
  y.drift_ = (drift + static_cast<double>(n) * size * kDriftUnit) * kUp +
             static_cast<double>(n) * kTinyDrift;
  const double rest = 1 - falls_;
  spread = (spread + rises_ * (y.drift_ + std::abs(c) * 0x1p-50)) / rest;
  const double range = most - least;
  const bool whole = !(rest > 0 && spread < range);
  if (whole) spread = range;
  y.saturated_ = y.saturated_ || saturated_ || (whole && range > 0);
  y.error_ = spread + inherited + rounded + products;
  y.error_ += (std::abs(c) + spread + inherited) * common_;
  if (!rule.exact) {
    y.error_ += RelativeErrorOfSum(rule, n) * size;
    if (!(size * 2 < MaxFinite(rule.format))) y.error_ = kInfinity;
  }
  y.error_ *= kUp * (1 + static_cast<double>(n) * 0x1p-52);
  if (lost_ || std::isnan(y.error_) || std::isnan(y.drift_)) y.error_ = kInfinity;
  if (std::isnan(y.drift_)) y.drift_ = 0;
  return y;
}

}  // namespace sextant
