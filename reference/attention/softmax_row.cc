#include "reference/attention/softmax_row.h"

#include <algorithm>
#include <cmath>

#include "reference/attention/softmax_mean.h"
#include "reference/attention/softmax_scores.h"
#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

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
size_t LargestOf(std::span<const BoostReal> scores) {
  return LargestBy(scores, [](const BoostReal& a, const BoostReal& b) { return Less(a, b); });
}
size_t LargestOf(std::span<const Rounded> scores) {
  return LargestBy(scores, [](const Rounded& a, const Rounded& b) { return Less(a, b); });
}

template <class Real>
SoftmaxRow<Real>::SoftmaxRow(std::span<const Real> scores, Tiling) {
  const ScopedStep at(Step::kSoftmax);
  if (scores.empty()) return;
  const Real& largest = scores[LargestOf(scores)];
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
Real SoftmaxRow<Real>::LogOfSum() const {
  const ScopedStep at(Step::kSoftmax);
  return largest_ + Log(sum_);
}

// The largest score less itself is 0, however wide its enclosure.
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
  const Scores seen(scores);
  largest_ = seen.largest;
  if (tiled_) raises_ = seen.Raises();
  std::vector<DoubleDouble> terms;
  double drift = 0;  // the largest of an exponent
  for (size_t j = 0; j < scores.size(); ++j) {
    const Counted& s = seen.scores[j];
    const double error = seen.ErrorOf(j, rule, tiled_, raises_);
    saturated_ = saturated_ || s.saturated_;
    lost_ = lost_ || !std::isfinite(error) || !std::isfinite(s.center_.high);
    const DoubleDouble exponent = lost_ ? DoubleDouble() : seen.ExponentOf(j);
    drift = std::max(drift, s.drift_ + seen.largest.drift_ + std::abs(exponent.high) * kDriftUnit);
    terms.push_back(exp(exponent));
    rise_.push_back(std::expm1(error) * kBoundUp);
    fall_.push_back(-std::expm1(-error) * kBoundUp);
  }
  drift_ = std::expm1(2 * drift);
  SetWeights(terms);
}

// Of a number of that magnitude; where it is kept before the division, up to the unit of itself.
double SoftmaxRow<Counted>::Rounding(const StepRule& rule, double magnitude) const {
  if (!tiled_) return RoundingError(rule, magnitude, 0);
  const double unit = UnitOf(rule.format);
  return magnitude * unit / (1 - unit) + LeastOf(rule);
}

void SoftmaxRow<Counted>::SetWeights(const std::vector<DoubleDouble>& terms) {
  const StepRule& rule = CurrentRule();
  const size_t n = terms.size();
  const auto count = static_cast<double>(n);
  for (const DoubleDouble& term : terms) sum_ += term;
  for (const DoubleDouble& term : terms) {
    Counted p;
    p.center_ = term / sum_;
    if (n > 1) p.drift_ = p.center_.high * (2 * drift_ + (count + 4) * kDriftUnit) + kTinyDrift;
    if (!rule.exact) p.format_ = rule.format;
    p.saturated_ = saturated_;
    rises_ += p.center_.high * rise_[weights_.size()];
    falls_ += p.center_.high * fall_[weights_.size()];
    weights_.push_back(p);
  }
  SetErrorsOfWeights(rule, SetErrorOfSum(rule));
}

// Of the sum of the terms and its reciprocal, which all weights share. The sum is at least its
// largest term, and the exact sum at most n times that. Returns what a term may lose to underflow.
double SoftmaxRow<Counted>::SetErrorOfSum(const StepRule& rule) {
  const size_t n = weights_.size();
  const auto count = static_cast<double>(n);
  if (rule.exact || n <= 1) return 0;
  const double unit = UnitOf(rule.format);
  const SumError off = RelativeErrorOfSum(rule, n);
  const auto of_reciprocal = [&](double of_sum) {
    of_sum += raises_ * unit;
    const double most = of_sum < 1 ? std::min(of_sum / (1 - of_sum), count - 1) : count - 1;
    return (1 + most) * (1 + unit) - 1;
  };
  common_ = of_reciprocal(off.worst);
  likely_common_ = of_reciprocal(off.likely);
  if (!(count * (1 + off.worst) * 2 < MaxFinite(rule.format))) lost_ = true;
  return rule.flushes ? LeastOf(rule) : rule.ulps * LeastOf(rule);
}

void SoftmaxRow<Counted>::SetErrorsOfWeights(const StepRule& rule, double underflow) {
  const size_t n = weights_.size();
  const auto count = static_cast<double>(n);
  for (size_t j = 0; j < n; ++j) {
    Counted& p = weights_[j];
    shift_.push_back(ShiftOf(j));
    const double most = (p.center_.high + shift_[j]) * (1 + common_);
    own_.push_back(0);
    if (!rule.exact && n > 1) {
      // Terms below the smallest normal number are off by `underflow`, and their sum by n times it.
      own_[j] = Rounding(rule, most) + 2 * underflow * (1 + count * most);
    }
    const double likely = (p.center_.high + shift_[j]) * (1 + likely_common_) * likely_common_;
    p.SetError((shift_[j] + most * common_ + own_[j]) * kBoundUp,
               (shift_[j] + likely + own_[j]) * kBoundUp);
    if (lost_) p.SetError(kInfinity, kInfinity);
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
  return std::max(0.0, std::max(most_up, most_down)) * kBoundUp;
}

// The weights as they are kept, and as they are multiplied.
const std::vector<SoftmaxRow<Counted>::StoredWeight>& SoftmaxRow<Counted>::StoredWeights() const {
  if (!stored_.empty()) return stored_;
  std::vector<StepRule> rules;
  for (const Step step : {Step::kWeigh, Step::kDot}) {
    const ScopedStep at(step);
    rules.push_back(CurrentRule());
  }
  for (const Counted& p : weights_) {
    StoredWeight kept{p.center_.high + p.drift_ + p.error_, 0};
    for (const StepRule& to : rules) {
      if (to.exact || (p.format_ && Contains(to.format, *p.format_))) continue;
      const double error = Rounding(to, kept.most);
      kept.error += error;
      kept.most += error;
    }
    stored_.push_back(kept);
  }
  return stored_;
}

Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  if (weights_.empty()) return Counted();
  const std::vector<StoredWeight>& kept = StoredWeights();
  const ScopedStep at(Step::kDot);
  if (weights_.size() == 1 && !lost_) return Converted(values[0]);  // times 1
  return WeightedMean(*this, kept, values).Result();
}

// c + ln sum: of the exact sum, at most the largest error of an exponent; of an implementation's,
// the errors of its sum, of its logarithm and of its addition. Where it takes logarithms to base 2,
// both parts are multiplied by ln 2 once more.
Counted SoftmaxRow<Counted>::LogOfSum() const {
  const ScopedStep at(Step::kSoftmax);
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
