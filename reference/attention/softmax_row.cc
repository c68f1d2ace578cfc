#include "reference/attention/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/attention/softmax_mean.h"
#include "reference/attention/softmax_numbers.h"
#include "reference/attention/softmax_scores.h"
#include "reference/number/counted/sum_of_terms.h"
#include "reference/number/dot/dot.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

template <class Real, class Less>
size_t LargestBy(std::span<const Real> scores, Less less) {
  return static_cast<size_t>(std::ranges::max_element(scores, less) - scores.begin());
}

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
  if (std::ranges::all_of(scores, &Rounded::IsDouble))
    return LargestBy(scores,
                     [](const Rounded& a, const Rounded& b) { return a.value() < b.value(); });
  return LargestBy(scores, [](const Rounded& a, const Rounded& b) { return Less(a, b); });
}

template <class Real>
SoftmaxRow<Real>::SoftmaxRow(std::span<const Real> scores, Tiling) {
  const ScopedStep at(Step::kSoftmax);
  if (scores.empty()) return;
  const Real& largest = scores[ArgMax(scores)];
  largest_ = largest;
  if constexpr (std::same_as<Real, Rounded>) {
    std::vector<Rounded> exponents(scores.size());
    std::ranges::transform(scores, exponents.begin(),
                           [&](const Rounded& score) { return score - largest; });
    terms_ = ExpOfAll(exponents);
  } else {
    for (const Real& score : scores) terms_.push_back(Term(score, largest));
  }
  sum_ = SumOf(terms_);
  weights_.reserve(terms_.size());
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
Real SoftmaxRow<Real>::LogSumExp(const Real*) const {
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
    : weight_arrays_(scores.size()),
      weights_(weight_arrays_.numbers()),
      count_(scores.size()),
      tiled_(tiling == Tiling::kAny) {
  if (scores.empty()) return;
  const ScopedStep at(Step::kSoftmax);
  Scores from(scores, CurrentRule());
  SetFrom(from, CurrentRule());
}

void SoftmaxRow<Counted>::SetExact(const ExactSpan& scores, const CountedNumbers& weights) {
  weights_ = weights;
  count_ = scores.values.size();
  only_weights_ = true;
  exact_.resize(count_);
  zeros_.resize(count_);
  const ScopedStep at(Step::kSoftmax);
  Scores from(scores, exact_, zeros_);
  SetFrom(from, CurrentRule());
}

bool SoftmaxRow<Counted>::TakesExact(DType type) {
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  return rule.exact || (!rule.flushes && Contains(rule.format, type));
}

void SoftmaxRow<Counted>::SetFrom(Scores& from, const StepRule& rule) {
  format_ = FormatOf(rule);
  largest_ = from.largest;
  saturated_ = from.saturated;
  if (tiled_) updates_ = from.MaximumUpdates();
  const double unit = rule.exact ? 0 : UnitRoundoffOf(rule.format);
  const double exponential =  // ln(1 / (1 - relative error)), with each update
      rule.ulps * 2 * unit < 1 ? -(1 + updates_) * Log1pOf(-rule.ulps * 2 * unit) : kInfinity;
  unbounded_ = false;
  terms_.high.resize(count_);
  rise_.resize(count_);
  fall_.resize(count_);
  const ScoreRow row{count_,           from.numbers, largest_.center(),
                     largest_.drift(), from.most,    from.exact,
                     tiled_,           rule,         exponential};
  const bool by_doubles = SetTermsOfDoubles(row);
  if (!by_doubles) SetTerms(row);
  SetWeights(by_doubles);
}

std::vector<Counted> SoftmaxRow<Counted>::weights() const {
  std::vector<Counted> all;
  all.reserve(count_);
  for (size_t j = 0; j < count_; ++j) all.push_back(Weight(j));
  return all;
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

// The sum of the terms; sets the drift that it adds to the weights. Level 1 may add in another
// order: its bits are not those of goldens.
DoubleDouble SoftmaxRow<Counted>::Total() {
  DoubleDouble sum;
  double rounding = 0, additions = static_cast<double>(count_);  // at most, to `rounding`
  if (this_context.double_centers) {
    sum = SumOfTerms(terms_.high, terms_.low, rounding);
    additions += 16;
  } else {
    for (size_t j = 0; j < count_; ++j)
      sum = Sum(sum, DoubleDouble{terms_.high[j], terms_.low[j]}, rounding);
  }
  own_drift_ += rounding / sum.high * (1 + additions * 0x1p-52);
  return sum;
}

// By doubles, sum_, rise_sum_ and fall_sum_ are known.
void SoftmaxRow<Counted>::SetWeights(bool by_doubles) {
  const StepRule& rule = CurrentRule();
  if (!by_doubles) sum_ = Total();
  for (auto* const array : {&shift_, &rounding_}) array->resize(only_weights_ ? 0 : count_);
  WeightRow row{.count = count_,
                .weights = weights_,
                .term_high = terms_.high.data(),
                .term_low = terms_.low.data(),
                .sum = sum_,
                .rise = rise_.data(),
                .fall = fall_.data(),
                .shift = only_weights_ ? nullptr : shift_.data(),
                .rounding = only_weights_ ? nullptr : rounding_.data(),
                .double_centers = this_context.double_centers,
                .drift = Enclosing(drift_ + own_drift_),
                .rule = rule,
                .tiled = tiled_};
  if (!by_doubles) {
    SetWeightCenters(row);
    rise_sum_ = std::inner_product(rise_.begin(), rise_.end(), weights_.high, 0.0);
    fall_sum_ = std::inner_product(fall_.begin(), fall_.end(), weights_.high, 0.0);
  }
  row.underflow = SetSumError(rule);
  row.rise_sum = rise_sum_;
  row.fall_sum = fall_sum_;
  row.common = common_;
  row.likely_common = likely_common_;
  if (by_doubles) {
    SetWeightsOfDoubles(row);
  } else if (count_ > 1) {
    SetWeightErrors(row);
  } else {
    weights_.error[0] = weights_.likely[0] = 0;
    weights_.drift[0] = Enclosing(0);
  }
  if (unbounded_) {
    std::fill_n(weights_.error, count_, kInfinity);
    std::fill_n(weights_.likely, count_, kInfinity);
  }
}

// Sets the relative error common to all weights: that of the sum of the terms and of its
// reciprocal. The computed sum is at least its largest term, and the exact sum at most n times that
// term. Returns the underflow error of one term.
double SoftmaxRow<Counted>::SetSumError(const StepRule& rule) {
  const size_t n = count_;
  const auto count = static_cast<double>(n);
  common_ = likely_common_ = 0;
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

// The weights rounded by step weigh and converted for step dot.
const std::vector<SoftmaxRow<Counted>::StoredWeight>& SoftmaxRow<Counted>::StoredWeights() const {
  if (!stored_.empty()) return stored_;
  std::vector<StepRule> rules;
  for (const Step step : {Step::kWeigh, Step::kDot}) {
    const ScopedStep at(step);
    rules.push_back(CurrentRule());
  }
  for (size_t j = 0; j < count_; ++j) {
    StoredWeight weight{weights_.high[j] + weights_.drift[j] + weights_.error[j], 0};
    for (const StepRule& to : rules) {
      if (to.exact || (format_ && Contains(to.format, *format_))) continue;
      const double error = Rounding(to, weight.most);
      weight.error += error;
      weight.most += error;
    }
    stored_.push_back(weight);
  }
  return stored_;
}

Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  if (count_ == 0) return Counted();
  const ScopedStep at(Step::kDot);
  if (count_ == 1 && !unbounded_) return Converted(values[0]);  // the weight is 1
  return WeightedMean(*this).Of(values);
}

}  // namespace sextant
