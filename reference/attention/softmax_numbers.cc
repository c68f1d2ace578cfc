#include "reference/attention/softmax_numbers.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/attention/softmax_numbers.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/counted/lane_sums-inl.h"
#include "reference/number/counted/rounding_vectors-inl.h"
#include "reference/number/double_double/double_double_functions-inl.h"
#include "reference/number/double_double/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// std::max(0.0, x): 0 if x is NaN.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V NotNegative(D d, V x) {
  return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x);
}
// std::min(x, limit), and the limit if x is NaN.
template <class V>
HWY_INLINE V AtMost(V limit, V x) {
  return hn::IfThenElse(hn::Le(x, limit), x, limit);
}

// The rounding of the difference to the largest score. With tiling, it includes the multiplication
// by log2 e for exponents to base 2, before or after the subtraction.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V DifferenceError(D d, const ScoreRow& row, V high, V error, V drift) {
  const V slack = hn::Add(hn::Mul(hn::Abs(high), hn::Set(d, 0x1p-50)), drift);
  const V reach = hn::Add(hn::Add(hn::Set(d, row.most), error), slack);
  // Upper bound of |score - largest| in every implementation.
  const V difference =
      hn::Add(NotNegative(d, hn::Sub(reach, high)), hn::Set(d, std::abs(row.most) * 0x1p-50));
  if (!row.tiled) return RoundingOf(d, row.units)(difference);
  const V two = hn::Set(d, 2.0);
  const V magnitudes = hn::Add(  // >= |s| + |m|
      hn::Add(hn::Mul(two, MagnitudeOf(d, high, drift)), hn::Mul(two, error)), difference);
  const V unit = hn::Set(d, UnitRoundoffOf(row.rule.format));
  return hn::Mul(hn::Mul(hn::Add(magnitudes, hn::Mul(two, difference)), unit),
                 hn::Set(d, kBoundUp));
}

// E_j, unless the step is exact.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ExponentError(D d, const ScoreRow& row, size_t j, const Double2<V>& exponent) {
  const V zero = hn::Zero(d), error = hn::LoadU(d, row.scores.error + j);
  const V rounding = DifferenceError(d, row, hn::LoadU(d, row.scores.high + j), error,
                                     hn::LoadU(d, row.scores.drift + j));
  const bool may_be_exact = row.exact && row.largest.low == 0;
  const auto no_low =
      hn::And(hn::Eq(hn::LoadU(d, row.scores.low + j), zero), hn::Eq(exponent.low, zero));
  const auto is_exact = hn::And(hn::Gt(hn::Set(d, may_be_exact ? 1.0 : 0.0), zero),
                                hn::And(no_low, RoundingOf(d, row.units).IsValue(exponent.high)));
  const V added = row.tiled ? rounding : hn::IfThenElse(is_exact, zero, rounding);
  const V all = hn::Add(hn::Add(error, added), hn::Set(d, row.exponential));
  return hn::IfThenElse(hn::And(is_exact, hn::Eq(exponent.high, zero)), error, all);  // e^0
}

// The centre of exponent j, score - largest, and its drift.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> ExponentAt(D d, const ScoreRow& row, size_t j) {
  const Double2<V> score{hn::LoadU(d, row.scores.high + j), hn::LoadU(d, row.scores.low + j)};
  const Double2<V> largest{hn::Set(d, row.largest.high), hn::Set(d, row.largest.low)};
  return SumOf(score, Negated(largest));
}
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ExponentDrift(D d, const ScoreRow& row, size_t j, const Double2<V>& exponent) {
  return hn::Add(hn::Add(hn::LoadU(d, row.scores.drift + j), hn::Set(d, row.largest_drift)),
                 DriftOf(d, exponent.high, 4));
}

// Bound of the change of weight j, p, by errors of exponents. It is largest where the errors of all
// other exponents have the opposite sign.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V WeightShift(D d, const WeightRow& row, size_t j, const Double2<V>& p) {
  const V one = hn::Set(d, 1.0), zero = hn::Zero(d);
  const V rise_j = hn::LoadU(d, row.rise + j), fall_j = hn::LoadU(d, row.fall + j);
  const V rest = SumOf(Double2<V>{one, zero}, Negated(p)).high;
  // Rounding of the differences below.
  const V slack = hn::Set(d, (row.rise_sum + row.fall_sum) * 0x1p-50);
  const auto without = [&](double sum, V own) HWY_ATTR {
    return hn::Add(NotNegative(d, hn::Sub(hn::Set(d, sum), hn::Mul(p.high, own))), slack);
  };
  const V rise = without(row.rise_sum, rise_j), fall = without(row.fall_sum, fall_j);
  const V up =
      hn::Div(hn::Mul(p.high, hn::Add(hn::Mul(rise_j, rest), fall)),
              hn::Add(NotNegative(d, hn::Sub(rest, fall)), hn::Mul(p.high, hn::Add(one, rise_j))));
  const V down = hn::Div(hn::Mul(p.high, hn::Add(hn::Mul(fall_j, rest), rise)),
                         hn::Add(hn::Add(rest, rise), hn::Mul(p.high, hn::Sub(one, fall_j))));
  const V most_up = AtMost(rest, up), most_down = AtMost(p.high, down);
  const V most = hn::IfThenElse(hn::Lt(most_up, most_down), most_down, most_up);
  return hn::Mul(NotNegative(d, most), hn::Set(d, kBoundUp));
}

// Rounding error of a number of this magnitude. With tiling, the number is rounded while multiplied
// by an unknown factor: the bound is one unit roundoff of the number, not half an ulp.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V RoundingOfWeight(D d, const WeightRow& row, V magnitude) {
  if (!row.tiled) return RoundingOf(d, row.units)(magnitude);
  const double unit = UnitRoundoffOf(row.rule.format);
  return hn::Add(hn::Div(hn::Mul(magnitude, hn::Set(d, unit)), hn::Set(d, 1 - unit)),
                 hn::Set(d, UnderflowErrorOf(row.rule)));
}

// Weight j, p: shift, errors common to all weights, and own roundings. The error of a term below
// the smallest normal number is `underflow`, that of their sum n times as large.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SetErrorsAt(D d, const WeightRow& row, size_t j, const Double2<V>& p) {
  const auto count = static_cast<double>(row.count);
  const V one = hn::Set(d, 1.0), up = hn::Set(d, kBoundUp);
  const V shift = WeightShift(d, row, j, p), common = hn::Set(d, row.common);
  const V shifted = hn::Add(p.high, shift);
  const V most = hn::Mul(shifted, hn::Add(one, common));
  V rounding = hn::Zero(d);
  if (!row.rule.exact) {
    const V of_terms = hn::Add(one, hn::Mul(hn::Set(d, count), most));
    rounding =
        hn::Add(RoundingOfWeight(d, row, most), hn::Mul(hn::Set(d, 2 * row.underflow), of_terms));
  }
  const V likely =
      hn::Mul(hn::Mul(shifted, hn::Set(d, 1 + row.likely_common)), hn::Set(d, row.likely_common));
  if (row.shift) {
    hn::StoreU(shift, d, row.shift + j);
    hn::StoreU(rounding, d, row.rounding + j);
  }
  hn::StoreU(hn::Mul(hn::Add(hn::Add(shift, hn::Mul(most, common)), rounding), up), d,
             row.weights.error + j);
  hn::StoreU(hn::Mul(hn::Add(hn::Add(shift, likely), rounding), up), d, row.weights.likely + j);
}

double SetExponents(const ScoreRow& row, const ExponentRow& to) {
  double largest_drift = 0;
  const bool is_exact = row.rule.exact || row.count == 1;
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto exponent = ExponentAt(d, row, j);
    hn::StoreU(exponent.high, d, to.high + j);
    hn::StoreU(exponent.low, d, to.low + j);
    hn::StoreU(is_exact ? hn::LoadU(d, row.scores.error + j) : ExponentError(d, row, j, exponent),
               d, to.error + j);
    const V drift = ExponentDrift(d, row, j, exponent);
    if (hn::AllTrue(d, hn::Le(drift, hn::Set(d, largest_drift)))) return;
    largest_drift = std::max(largest_drift, hn::GetLane(hn::MaxOfLanes(d, drift)));
  });
  return largest_drift;
}

void SetExponentials(double* high, double* low, size_t count) {
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto term = Exp(d, Double2<V>{hn::LoadU(d, high + j), hn::LoadU(d, low + j)});
    hn::StoreU(term.high, d, high + j);
    hn::StoreU(term.low, d, low + j);
  });
}

void SetWeightCenters(const WeightRow& row) {
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const Double2<V> sum{hn::Set(d, row.sum.high), hn::Set(d, row.sum.low)};
    const Double2<V> term{hn::LoadU(d, row.term_high + j), hn::LoadU(d, row.term_low + j)};
    Double2<V> center{hn::Div(term.high, sum.high), hn::Zero(d)};
    if (!row.double_centers) center = QuotientOf(d, term, sum);
    const V drift =
        hn::Add(hn::Mul(hn::Mul(center.high, hn::Set(d, row.drift)), hn::Set(d, kBoundUp)),
                hn::Set(d, kTinyDrift));
    const auto is_number = hn::Eq(drift, drift);  // infinity times 0
    hn::StoreU(center.high, d, row.weights.high + j);
    hn::StoreU(center.low, d, row.weights.low + j);
    hn::StoreU(hn::IfThenElse(is_number, drift, hn::Set(d, kInfinity)), d, row.weights.drift + j);
  });
}

void SetWeightErrors(const WeightRow& row) {
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    SetErrorsAt(d, row, j, {hn::LoadU(d, row.weights.high + j), hn::LoadU(d, row.weights.low + j)});
  });
}

// The rest is for level 1.

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

HWY_EXPORT(SetExponents);
HWY_EXPORT(SetExponentials);
HWY_EXPORT(SetWeightCenters);
HWY_EXPORT(SetWeightErrors);
HWY_EXPORT(SetRange);
HWY_EXPORT(SetTerms);
HWY_EXPORT(SetWeights);

}  // namespace

double SetExponents(const ScoreRow& row, const ExponentRow& to) {
  return HWY_DYNAMIC_DISPATCH(SetExponents)(row, to);
}

void SetExponentials(std::span<double> high, std::span<double> low) {
  HWY_DYNAMIC_DISPATCH(SetExponentials)(high.data(), low.data(), high.size());
}

void SetWeightCenters(const WeightRow& row) { HWY_DYNAMIC_DISPATCH(SetWeightCenters)(row); }
void SetWeightErrors(const WeightRow& row) { HWY_DYNAMIC_DISPATCH(SetWeightErrors)(row); }

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
