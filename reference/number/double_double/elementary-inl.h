// The exponential of vectors of doubles, the same bits as ExpOf (elementary.h). Included once for
// each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_ELEMENTARY) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_ELEMENTARY
#undef SEXTANT_REFERENCE_ELEMENTARY
#else
#define SEXTANT_REFERENCE_ELEMENTARY
#endif

#include <limits>

#include "reference/number/double_double/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// x / n, rounded to nearest, for |x| >= 2^-900 and n <= 15. With fused operations: the quotient by
// the rounded reciprocal is within 2^-52 of x / n, its remainder is exact, and the correction
// leaves a relative error of 2^-105 before it is rounded. x - n m is a multiple of 2^-57 |x| for
// each number m midway between two doubles, and is not 0, so no such m lies that near to x / n.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V QuotientBy(D d, V x, int n) {
#if HWY_NATIVE_FMA
  const V inverse = hn::Set(d, 1.0 / n), q = hn::Mul(x, inverse);
  return hn::MulAdd(hn::NegMulAdd(q, hn::Set(d, n), x), inverse, q);
#else
  return hn::Div(x, hn::Set(d, n));
#endif
}

// The steps of ExpOf. A quotient below 2^-900 is lost in the sum with 1.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ExpOf(D d, V x) {
  constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
  constexpr double kLn2First = 0x1.62e42fefp-1, kLn2Rest = 0x1.473de6af278edp-34;
  const V k = hn::Round(hn::Mul(x, hn::Set(d, kOneOverLn2)));
  const V r =
      hn::Sub(hn::Sub(x, hn::Mul(k, hn::Set(d, kLn2First))), hn::Mul(k, hn::Set(d, kLn2Rest)));
  const V one = hn::Set(d, 1.0);
  V sum = one;
  for (int n = 15; n > 2; --n) sum = hn::Add(one, hn::Mul(QuotientBy(d, r, n), sum));
  const V second_order = hn::Mul(sum, hn::Set(d, 0.5));
  const V y = hn::Add(one, hn::Add(r, hn::Mul(hn::Mul(r, r), second_order)));
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const V scaled = hn::IfThenElse(hn::Gt(x, hn::Set(d, 710.0)), infinity, Scaled(d, y, k));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -746.0)), scaled);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
