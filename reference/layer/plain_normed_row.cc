#include "reference/layer/plain_normed_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/layer/plain_normed_row.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/recipe/rounding_units.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr double kClampUp = 1 + 0x1p-30;  // as in Clamp (counted.cc)

// a / b
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Quotient(D d, const PlainNormedRow& row, V a, double b, double inverse) {
  return row.by_reciprocals ? hn::Mul(a, hn::Set(d, inverse)) : hn::Div(a, hn::Set(d, b));
}

// IsOrdinary (normed_row_steps.h).
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsOrdinaryNumber(D d, const CountedVector<V>& x) {
  const hn::RebindToUnsigned<D> bits;
  const V infinity = hn::Set(d, kInfinity), zero = hn::Zero(d), size = hn::Abs(x.center.high);
  const V spread = hn::Add(x.error, x.drift);
  const V one = hn::Set(d, 1.0);
  const auto fraction = hn::And(hn::BitCast(bits, size), hn::Set(bits, (uint64_t{1} << 52) - 1));
  const auto significand = hn::BitCast(d, hn::Or(fraction, hn::BitCast(bits, one)));
  const auto has_fraction =
      hn::And(hn::Ne(significand, one), hn::Ge(size, hn::Set(d, PowerOfTwo(-1022))));
  const auto is_finite = hn::And(hn::Lt(size, infinity), hn::Lt(spread, infinity));
  return hn::And(is_finite, hn::Or(hn::Gt(spread, zero), has_fraction));
}

// NormedRow::QuotientError, infinite where it does not hold.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V QuotientErrorAt(D d, const PlainNormedRow& row, size_t j, V converted) {
  const V up = hn::Set(d, kBoundUp);
  const auto by_least_root = [&](V a) HWY_ATTR {
    return Quotient(d, row, a, row.least_root, row.inverse_least_root);
  };
  const V size = hn::LoadU(d, row.size + j), error = hn::LoadU(d, row.error + j);
  const V quotient = hn::Mul(Quotient(d, row, size, row.root, row.inverse_root), up);
  const V both = hn::Mul(hn::Add(hn::LoadU(d, row.square_error + j), converted), up);
  const V difference = hn::Sub(both, hn::Mul(hn::Set(d, 2.0), error));
  const V limit =
      hn::Add(hn::Add(hn::Set(d, row.root_of_count), by_least_root(difference)), quotient);
  const V through = hn::Add(converted, hn::Mul(quotient, hn::Set(d, row.root_error)));
  const V propagated = hn::Min(by_least_root(through), limit);
  const V most = hn::Add(quotient, propagated), largest = hn::Set(d, row.largest);
  const auto holds = hn::And(hn::Lt(hn::Mul(hn::Set(d, 2.0), most), largest),
                             hn::Lt(hn::Add(size, converted), largest));
  const V underflow =
      hn::Mul(hn::Set(d, row.underflow), hn::Add(hn::Add(hn::Set(d, 1.0), size), converted));
  const V own = hn::Mul(most, hn::Set(d, row.reciprocal_error));
  return hn::IfThenElse(holds, hn::Mul(hn::Add(hn::Add(propagated, own), underflow), up),
                        hn::Set(d, kInfinity));
}

// Lowers the errors of a quotient to a bound around its centre, as Clamp does in an exact step.
// Returns where the bound is lower.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> ClampErrors(D d, V bound, CountedVector<V>& y) {
  const V size = hn::Mul(hn::Abs(y.center.high), hn::Set(d, 0x1p-50));
  const V error = hn::Add(hn::Add(bound, y.drift), size);
  const auto lowers = hn::Lt(error, y.error);
  const V zero = hn::Zero(d);
  const Double2<V> high{hn::Add(y.center.high, error), zero};
  const Double2<V> minus_low{hn::Sub(error, y.center.high), zero};
  const V reach =
      hn::Mul(hn::Max(SumOf(high, Negated(y.center)).high, SumOf(y.center, minus_low).high),
              hn::Set(d, kClampUp));
  const V farthest = hn::Add(reach, y.drift);
  y.error = hn::IfThenElse(lowers, hn::Min(y.error, farthest), y.error);
  y.likely = hn::IfThenElse(lowers, hn::Min(y.likely, farthest), y.likely);
  return lowers;
}

// The elements of one vector, of which `j` is the first.
template <class D>
HWY_INLINE void WeighAt(D d, const PlainNormedRow& row, size_t j) {
  using V = hn::VFromD<D>;
  Ordinary<D> ordinary(d);
  ordinary.Require(hn::Gt(hn::LoadU(d, row.ordinary + j), hn::Zero(d)));
  const CountedNumbers& f = row.factor;
  const CountedVector<V> factor{{hn::Set(d, *f.high), hn::Set(d, *f.low)},
                                hn::Set(d, *f.error),
                                hn::Set(d, *f.likely),
                                hn::Set(d, *f.drift)};
  const auto x = LoadCounted(d, row.x, j);
  ordinary.Require(IsOrdinaryNumber(d, x));
  auto y = ProductOf(d, x, factor);
  Round(d, row.scale, y, ordinary);
  ordinary.Require(hn::Gt(hn::Abs(y.center.high), hn::Set(d, 0x1p-900)));
  auto converts = hn::Gt(hn::Set(d, row.weigh_contains_scale ? 0.0 : 1.0), hn::Zero(d));
  if (row.bounded) {  // a clamped number has no format
    const V bound = QuotientErrorAt(d, row, j, x.error);
    converts = hn::Or(converts, ClampErrors(d, bound, y));
  }
  const V size = hn::Add(MagnitudeOf(d, y.center.high, y.drift), y.error);
  const V own = hn::IfThenElseZero(converts, HalfUlpOf(d, size, row.weigh, ordinary));
  y.error = hn::Add(y.error, own);
  y.likely = hn::Add(y.likely, own);
  y = ProductOf(d, y, LoadCounted(d, row.weight, j));
  Round(d, row.weigh, y, ordinary);
  StoreCounted(d, y, row.y, j);
  hn::StoreU(ordinary.marks(), d, row.result_ordinary + j);
}

void WeighRow(const PlainNormedRow& row) {
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR { WeighAt(d, row, j); });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(WeighRow);

}  // namespace

void WeighPlainRow(const PlainNormedRow& row) { HWY_DYNAMIC_DISPATCH(WeighRow)(row); }

}  // namespace sextant
#endif
