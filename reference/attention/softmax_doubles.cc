#include <algorithm>
#include <cmath>

#include "reference/attention/softmax_numbers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/attention/softmax_doubles.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/attention/softmax_numbers-inl.h"
#include "reference/number/counted/lane_sums-inl.h"
#include "reference/number/double_double/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void SetRange(const double* x, size_t count, Range& range) {
  InTwoParts(count, [&](auto d, size_t first, size_t last) HWY_ATTR {
    auto least = hn::Set(d, range.least), most = hn::Set(d, range.most);
    for (size_t j = first; j < last; j += hn::Lanes(d)) {
      least = hn::Min(least, hn::LoadU(d, x + j));
      most = hn::Max(most, hn::LoadU(d, x + j));
    }
    range = {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, most))};
  });
}

// Terms first .. last - 1.
template <class D>
HWY_INLINE void AddTerms(D d, const ScoreRow& row, const TermRow& to, size_t first, size_t last,
                         TermTotals& totals) {
  using V = hn::VFromD<D>;
  const V zero = hn::Zero(d), up = hn::Set(d, kBoundUp);
  V rise_sum = zero, fall_sum = zero, most_drift = zero;
  LaneSums sums(d);
  auto valid = hn::Eq(zero, zero);
  for (size_t j = first; j < last; j += hn::Lanes(d)) {
    const auto exponent = ExponentAt(d, row, j);
    const V error =
        row.rule.exact ? hn::LoadU(d, row.scores.error + j) : ExponentError(d, row, j, exponent);
    // The term leaves out the low half of its exponent.
    const V drift = hn::Add(ExponentDrift(d, row, j, exponent), hn::Abs(exponent.low));
    const V term = Exponential(d, exponent.high);
    const V rise = hn::Mul(Expm1NearZero(d, error), up);
    const V fall = hn::Neg(hn::Mul(Expm1NearZero(d, hn::Neg(error)), up));
    hn::StoreU(term, d, to.term + j);
    hn::StoreU(rise, d, to.rise + j);
    hn::StoreU(fall, d, to.fall + j);
    sums.Add(term);
    rise_sum = hn::Add(rise_sum, hn::Mul(term, rise));
    fall_sum = hn::Add(fall_sum, hn::Mul(term, fall));
    // Not where one of them is NaN. Expm1NearZero is for errors up to 0.35.
    valid =
        hn::And(valid, hn::And(hn::Le(error, hn::Set(d, 0.35)), hn::Le(drift, hn::Set(d, 1.0))));
    most_drift = hn::Max(most_drift, drift);
  }
  sums.AddTo(last - first, totals.sum, totals.rounding);
  totals.rise += hn::GetLane(hn::SumOfLanes(d, rise_sum));
  totals.fall += hn::GetLane(hn::SumOfLanes(d, fall_sum));
  totals.drift = std::max(totals.drift, hn::GetLane(hn::MaxOfLanes(d, most_drift)));
  totals.valid = totals.valid && hn::AllTrue(d, valid);
}

TermTotals SetTerms(const ScoreRow& row, const TermRow& to) {
  TermTotals totals;
  size_t lanes = 1;
  InTwoParts(row.count, [&](auto d, size_t first, size_t last) HWY_ATTR {
    lanes = std::max(lanes, hn::Lanes(d));
    AddTerms(d, row, to, first, last, totals);
  });
  const auto n = static_cast<double>(row.count);
  // Sums of positive numbers, each with less than n / lanes + 16 additions after another.
  const double up = 1 + (n / static_cast<double>(lanes) + 16) * 0x1p-52;
  totals.rise *= up;
  totals.fall *= up;
  return totals;
}

// The relative error of the product below is at most 2^-51: those of the reciprocal and of the
// product, and the low half of the sum.
void SetWeights(const WeightRow& row) {
  const double inverse = 1 / row.sum.high;
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const V p = hn::Mul(hn::LoadU(d, row.term_high + j), hn::Set(d, inverse)), zero = hn::Zero(d);
    const V drift = hn::Add(hn::Mul(hn::Mul(p, hn::Set(d, row.drift)), hn::Set(d, kBoundUp)),
                            hn::Set(d, kTinyDrift));
    hn::StoreU(p, d, row.weights.high + j);
    hn::StoreU(zero, d, row.weights.low + j);
    hn::StoreU(drift, d, row.weights.drift + j);
    SetErrorsAt(d, row, j, {p, zero});
  });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SetRange);
HWY_EXPORT(SetTerms);
HWY_EXPORT(SetWeights);

}  // namespace

Range RangeOf(std::span<const double> numbers) {
  Range range{kInfinity, -kInfinity};
  HWY_DYNAMIC_DISPATCH(SetRange)(numbers.data(), numbers.size(), range);
  return range;
}

TermTotals SetTermsOfDoubles(const ScoreRow& row, const TermRow& to) {
  return HWY_DYNAMIC_DISPATCH(SetTerms)(row, to);
}

void SetWeightsOfDoubles(const WeightRow& row) { HWY_DYNAMIC_DISPATCH(SetWeights)(row); }

}  // namespace sextant
#endif
