#include "reference/attention/softmax_row.h"

#include <algorithm>
#include <concepts>

#include "reference/attention/mean_sums.h"
#include "reference/number/dot/dot.h"

namespace sextant {
namespace {

template <class Real, class Less>
size_t LargestBy(std::span<const Real> scores, Less less) {
  return static_cast<size_t>(std::ranges::max_element(scores, less) - scores.begin());
}

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
ValueRows<Real>::ValueRows(std::span<const Real> numbers, size_t count)
    : numbers_(numbers), width_(count == 0 ? 0 : numbers.size() / count) {
  if constexpr (std::same_as<Real, Counted>) {
    const ScopedStep at(Step::kDot);
    const std::vector<double> plain = PlainNumbers(numbers);
    if (plain.empty()) return;
    padded_ = (width_ + kMeanColumns - 1) / kMeanColumns * kMeanColumns;
    plain_.resize(count * padded_);
    for (size_t t = 0; t < count; ++t) {
      for (size_t e = 0; e < width_; ++e)
        plain_[t * padded_ + e] = static_cast<float>(plain[t * width_ + e]);
    }
  }
}

template class ValueRows<Interval>;
template class ValueRows<Counted>;
template class ValueRows<Rounded>;
template class ValueRows<BoostReal>;

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
    bool are_codes = false;
    {
      const ScopedStep at(Step::kWeigh);
      are_codes = !CurrentRule().exact && SizeOf(CurrentRule().format) == 1;
      for (const Real& weight : are_codes ? terms_ : weights_) kept.push_back(Converted(weight));
    }
    const Real sum = Dot<Real>(kept, values);
    const ScopedStep at(Step::kSoftmax);
    return are_codes ? sum / sum_ : sum;
  }
}

template <class Real>
void SoftmaxRow<Real>::Means(const ValueRows<Real>& values, std::span<const size_t> keys,
                             std::span<Real> y) const {
  std::vector<Real> column(weights_.size(), Real(0.0));
  for (size_t e = 0; e < y.size(); ++e) {
    for (size_t j = 0; j < keys.size(); ++j) column[j] = values[keys[j]][e];
    y[e] = Mean(column);
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

}  // namespace sextant
