// Vectors of the numbers of a row of softmax (softmax_numbers.h). Included once for each
// instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_SOFTMAX_NUMBERS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_SOFTMAX_NUMBERS
#undef SEXTANT_REFERENCE_SOFTMAX_NUMBERS
#else
#define SEXTANT_REFERENCE_SOFTMAX_NUMBERS
#endif

#include <cmath>

#include "reference/attention/softmax_numbers.h"
#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/counted/rounding_vectors-inl.h"

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

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
