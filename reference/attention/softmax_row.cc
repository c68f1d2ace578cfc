#include "reference/attention/softmax_row.h"

#include <algorithm>
#include <cmath>

#include "reference/attention/softmax_mean.h"
#include "reference/attention/softmax_scores.h"
#include "reference/number/dot.h"
#include "reference/number/elementary.h"
#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

template <class Real, class Less>
size_t LargestBy(std::span<const Real> scores, Less less) {
  return static_cast<size_t>(std::ranges::max_element(scores, less) - scores.begin());
}

double Difference(double a, double b) { return std::max(0.0, a - b); }

constexpr Counted::Bounds kUnbounded{kInfinity, kInfinity};

}  // namespace

size_t ArgMax(std::span<const Interval> scores) {
  return LargestBy(scores, [](const Interval& a, const Interval& b) {
    return mpfr_less_p(a.lower().get(), b.lower().get()) != 0;
  });
}
size_t ArgMax(std::span<const BoostReal> scores) {
  return LargestBy(scores, [](const BoostReal& a, const BoostReal& b) { return Less(a, b); });
}
size_t ArgMax(std::span<const Rounded> scores) {
  return LargestBy(scores, [](const Rounded& a, const Rounded& b) { return Less(a, b); });
}

template <class Real>
SoftmaxRow<Real>::SoftmaxRow(std::span<const Real> scores, Tiling) {
  const ScopedStep at(Step::kSoftmax);
  if (scores.empty()) return;
  const Real& largest = scores[ArgMax(scores)];
  largest_ = largest;
  for (const Real& score : scores) terms_.push_back(Term(score, largest));
  sum_ = SumOf(terms_);
  for (const Real& term : terms_) weights_.push_back(term / sum_);
}

template <class Real>
Real SoftmaxRow<Real>::Mean(std::span<const Real> values) const {
  if constexpr (RealArithmetic<Real>) {
    return weights_.empty() ? Real(0.0) : Dot<Real>(terms_, values) / sum_;
  } else {
    std::vector<Real> kept;
    {
      const ScopedStep at(Step::kWeigh);
      for (const Real& weight : weights_) kept.push_back(Converted(weight));
    }
    return Dot<Real>(kept, values);
  }
}

template <class Real>
Real SoftmaxRow<Real>::LogSumExp() const {
  const ScopedStep at(Step::kSoftmax);
  return largest_ + Log(sum_);
}

// For the largest score, the exponent is exactly 0, also where its Interval is not a point.
template <class Real>
Real SoftmaxRow<Real>::Term(const Real& score, const Real& largest) {
  if constexpr (std::same_as<Real, Interval>) {
    if (&score == &largest && score.IsSpecified()) return Real(1.0);
  }
  return Exp(score - largest);
}

template class SoftmaxRow<Interval>;
template class SoftmaxRow<Rounded>;
template class SoftmaxRow<BoostReal>;

SoftmaxRow<Counted>::SoftmaxRow(std::span<const Counted> scores, Tiling tiling)
    : tiled_(tiling == Tiling::kAny) {
  if (scores.empty()) return;
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const Scores converted(scores, rule);
  largest_ = converted.largest;
  if (tiled_) updates_ = converted.MaximumUpdates();
  std::vector<DoubleDouble> exponents;
  std::vector<double> errors;
  exponents.reserve(scores.size());
  errors.reserve(scores.size());
  double drift = 0;  // the largest drift of an exponent
  for (size_t j = 0; j < scores.size(); ++j) {
    const Counted& s = converted.scores[j];
    errors.push_back(converted.ErrorOf(j, rule, tiled_, updates_));
    saturated_ = saturated_ || s.saturated();
    unbounded_ = unbounded_ || !std::isfinite(errors[j]) || !std::isfinite(s.center().high);
    exponents.push_back(unbounded_ ? DoubleDouble() : converted.ExponentOf(j));
    drift = std::max(drift, s.drift() + largest_.drift() + DriftOf(exponents[j], 4));
  }
  SetRise(errors);
  SetWeights(Terms(exponents, drift));
}

Counted SoftmaxRow<Counted>::Bounded(const Counted& number, const Counted::Bounds& error,
                                     bool unbounded) {
  if (std::isnan(number.drift()))
    return Counted::Of(number.center(), kInfinity, number.format(), number.saturated())
        .WithError(kUnbounded);
  return number.WithError(unbounded || std::isnan(error.worst) ? kUnbounded : error);
}

// Rounding error of a number of this magnitude. With tiling, the number is rounded while multiplied
// by an unknown factor: the bound is one unit roundoff of the number, not half an ulp.
double SoftmaxRow<Counted>::Rounding(const StepRule& rule, double magnitude) const {
  if (!tiled_) return RoundingError(rule, magnitude, 0);
  const double unit = UnitRoundoffOf(rule.format);
  return magnitude * unit / (1 - unit) + UnderflowErrorOf(rule);
}

void SoftmaxRow<Counted>::SetWeights(const std::vector<DoubleDouble>& terms) {
  const StepRule& rule = CurrentRule();
  const size_t n = terms.size();
  const auto count = static_cast<double>(n);
  double rounding = 0;  // of the sum
  for (const DoubleDouble& term : terms) sum_ = Sum(sum_, term, rounding);
  own_drift_ += rounding / sum_.high * (1 + count * 0x1p-52);
  for (const DoubleDouble& term : terms) {
    const DoubleDouble center =
        this_context.double_centers ? DoubleDouble(term.high / sum_.high) : term / sum_;
    const double drift = center.high * (drift_ + own_drift_) * kBoundUp + kTinyDrift;
    const Counted p = Counted::Of(center, Enclosing(n > 1 ? drift : 0), FormatOf(rule), saturated_);
    rise_sum_ += p.center().high * rise_[weights_.size()];
    fall_sum_ += p.center().high * fall_[weights_.size()];
    weights_.push_back(p);
  }
  SetWeightErrors(rule, SetSumError(rule));
}

// Sets the relative error common to all weights: that of the sum of the terms and of its
// reciprocal. The computed sum is at least its largest term, and the exact sum at most n times that
// term. Returns the underflow error of one term.
double SoftmaxRow<Counted>::SetSumError(const StepRule& rule) {
  const size_t n = weights_.size();
  const auto count = static_cast<double>(n);
  if (rule.exact || n <= 1) return 0;
  const double unit = UnitRoundoffOf(rule.format);
  const SumError sum_error = RelativeErrorOfSum(rule, n);
  const auto reciprocal_error = [&](double error) {
    error += updates_ * unit;
    const double most = error < 1 ? std::min(error / (1 - error), count - 1) : count - 1;
    return most + unit + most * unit;
  };
  common_ = reciprocal_error(sum_error.worst);
  likely_common_ = reciprocal_error(sum_error.likely);
  if (!(count * (1 + sum_error.worst) * 2 < MaxFinite(rule.format))) unbounded_ = true;
  return rule.flushes ? UnderflowErrorOf(rule) : rule.ulps * UnderflowErrorOf(rule);
}

void SoftmaxRow<Counted>::SetWeightErrors(const StepRule& rule, double underflow) {
  const size_t n = weights_.size();
  const auto count = static_cast<double>(n);
  for (size_t j = 0; j < n; ++j) {
    Counted& p = weights_[j];
    shift_.push_back(WeightShift(j));
    const double most = (p.center().high + shift_[j]) * (1 + common_);
    rounding_.push_back(0);
    if (!rule.exact && n > 1) {
      // The error of a term below the smallest normal number is `underflow`, that of their sum n
      // times as large.
      rounding_[j] = Rounding(rule, most) + 2 * underflow * (1 + count * most);
    }
    const double likely = (p.center().high + shift_[j]) * (1 + likely_common_) * likely_common_;
    p = p.WithError(unbounded_
                        ? kUnbounded
                        : Counted::Bounds{(shift_[j] + most * common_ + rounding_[j]) * kBoundUp,
                                          (shift_[j] + likely + rounding_[j]) * kBoundUp});
  }
}

// Bound of the change of weight j by errors of exponents. It is largest where the errors of all
// other exponents have the opposite sign.
double SoftmaxRow<Counted>::WeightShift(size_t j) const {
  if (weights_.size() == 1) return 0;
  const double p = weights_[j].center().high;
  const double rest = (DoubleDouble(1.0) - weights_[j].center()).high;
  const double slack = (rise_sum_ + fall_sum_) * 0x1p-50;  // rounding of the differences below
  const double rise = Difference(rise_sum_, p * rise_[j]) + slack;
  const double fall = Difference(fall_sum_, p * fall_[j]) + slack;
  const double up = p * (rise_[j] * rest + fall) / (Difference(rest, fall) + p * (1 + rise_[j]));
  const double down = p * (fall_[j] * rest + rise) / (rest + rise + p * (1 - fall_[j]));
  const double most_up = std::isnan(up) ? rest : std::min(up, rest);
  const double most_down = std::isnan(down) ? p : std::min(down, p);
  return std::max(0.0, std::max(most_up, most_down)) * kBoundUp;
}

// The weights rounded by step weigh and converted for step dot.
const std::vector<SoftmaxRow<Counted>::StoredWeight>& SoftmaxRow<Counted>::StoredWeights() const {
  if (!stored_.empty()) return stored_;
  std::vector<StepRule> rules;
  for (const Step step : {Step::kWeigh, Step::kDot}) {
    const ScopedStep at(step);
    rules.push_back(CurrentRule());
  }
  for (const Counted& p : weights_) {
    StoredWeight weight{p.center().high + p.drift() + p.error(), 0};
    for (const StepRule& to : rules) {
      if (to.exact || (p.format() && Contains(to.format, *p.format()))) continue;
      const double error = Rounding(to, weight.most);
      weight.error += error;
      weight.most += error;
    }
    stored_.push_back(weight);
  }
  return stored_;
}

Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  if (weights_.empty()) return Counted();
  const ScopedStep at(Step::kDot);
  if (weights_.size() == 1 && !unbounded_) return Converted(values[0]);  // the weight is 1
  return WeightedMean(*this).Of(values);
}

// c + ln sum. Its error consists of the inherited error of the exact sum, at most the largest error
// of an exponent, and of the errors of the computed sum, of the logarithm and of the addition.
// Implementations with logarithms to base 2 (covered with tiling) also multiply both parts by ln 2.
Counted SoftmaxRow<Counted>::LogSumExp() const {
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const size_t n = weights_.size();
  const DoubleDouble logarithm = n > 1 ? log(sum_) : DoubleDouble();
  const DoubleDouble center = largest_.center() + logarithm;
  double drift = largest_.drift();
  const auto count = static_cast<double>(n);
  if (n > 1) {
    const double size = std::abs(largest_.center().high) + logarithm.high + 1;
    drift += (drift_ + own_drift_ + size * 40 * kDoubleDoubleUnit) * kBoundUp;
  }
  const double largest_error = Log1pOf(*std::ranges::max_element(rise_));
  const double inherited =
      std::min(largest_error, std::max(Log1pOf(rise_sum_), -Log1pOf(-fall_sum_)));
  const auto total_error = [&](double sum_error) {
    if (rule.exact) return inherited * kBoundUp;
    const double unit = UnitRoundoffOf(rule.format);
    double error = inherited, size = std::abs(largest_.center().high) + largest_.error();
    if (n > 1) {
      const double relative =
          sum_error + updates_ * unit + count * rule.ulps * UnderflowErrorOf(rule);
      error += relative < 1 ? -Log1pOf(-relative) : kInfinity;
      error += rule.ulps * UlpOf(rule.format, logarithm.high + error);
      error += RoundingError(rule, std::abs(center.high) + error, 0);
      size += logarithm.high;
    }
    return (tiled_ ? error + 3 * unit * (size + error) : error) * kBoundUp;
  };
  const SumError sum = n > 1 && !rule.exact ? RelativeErrorOfSum(rule, n) : SumError();
  return Bounded(Counted::Of(center, Enclosing(drift), FormatOf(rule), saturated_),
                 {total_error(sum.worst), total_error(sum.likely)}, unbounded_);
}

}  // namespace sextant
