// erf and erfc of vectors with results in double, for level 1 of the ladder: less than 64 units of
// 2^-53 of the result away from the exact value. Included once for each instruction set, after
// hwy/highway.h.
#if defined(SEXTANT_REFERENCE_ERF_OF_DOUBLES) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_ERF_OF_DOUBLES
#undef SEXTANT_REFERENCE_ERF_OF_DOUBLES
#else
#define SEXTANT_REFERENCE_ERF_OF_DOUBLES
#endif

#include <cstddef>
#include <iterator>

#include "reference/number/double_double/double_double-inl.h"
#include "reference/number/double_double/erf_coefficients.h"
#include "reference/number/double_double/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr double kErrorOfDoubles = 64 * 0x1p-53;  // relative

// Where erfc is computed by doubles: beyond, e^(-a^2) leaves the range of Exponential.
constexpr double kMostOfDoubles = 24;

// erf a for 0 <= a < 1/4: the Taylor series; its next term is below 2^-65 of the sum. The low half
// of a, the rounding of the first coefficient and the last sum and product are 4 units; everything
// below the last sum is 1/30 of it: together at most 5 units.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ErfNearZeroOfDoubles(D d, V a) {
  const V square = hn::Mul(a, a);
  V sum = hn::Set(d, kErf[std::size(kErf) - 1].high);
  for (size_t i = std::size(kErf) - 1; i-- > 0;)
    sum = hn::MulAdd(sum, square, hn::Set(d, kErf[i].high));
  return hn::Mul(a, sum);
}

// c / (s + u) + e / (s + v), all positive. The sums below, the products, the sum above and the
// quotient: at most 7 units, and one of each coefficient.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V TwoFractions(D d, V s, double c, double u, double e, double v) {
  const V first = hn::Add(s, hn::Set(d, u)), second = hn::Add(s, hn::Set(d, v));
  const V above = hn::MulAdd(hn::Set(d, c), second, hn::Mul(hn::Set(d, e), first));
  return hn::Div(above, hn::Mul(first, second));
}

// erfc a for 1/4 <= a <= kMostOfDoubles: the formula of ErfcBySum (double_double_functions-inl.h)
// with h = 1/2, s = a^2 and 12 terms,
//   a / pi e^-s (1 / (2 s) + e^(-1/4) / (s + 1/4) + e^(-4/4) / (s + 4/4) + ...)
//   - 2 / (e^(4 pi a) - 1),  without the second line for a > 2 pi.
// Its own error is at most 2^-53.4 of the result (near a = 2 pi; computed with mpmath from 1/4 to
// 24), 1 unit. Errors in units: the fractions have 8, and 3 by s in them, which leaves out its low
// half; their sums 7; the exponential 8 (below 2^-50), its factor for the rest of s 2; 1 / pi and
// three products 4, the low half of a in the first of them 1: 33. The second line is at most 0.125
// of the result. Its exponent has 3 units, which are 4 pi a times as much of it: at most 10 units
// of it at 1/4, and its share falls faster than a grows; the exponential, the difference and the
// quotient have 11. The difference of both lines adds 1: 1.125 33 + 0.125 21 + 1 + 1 < 42 units.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ErfcOfDoubles(D d, const Double2<V>& a) {
  const V one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
  const auto s = TwoProduct(d, a.high, a.high);
  const V rest = hn::MulAdd(hn::Mul(two, a.high), a.low, s.low);
  V sum = hn::Zero(d);
  for (size_t k = std::size(kGaussianOfHalves) - 1; k > 0; k -= 2) {
    const auto at = [](size_t i) { return static_cast<double>(i * i) / 4; };
    sum = hn::Add(sum, TwoFractions(d, s.high, kGaussianOfHalves[k], at(k),
                                    kGaussianOfHalves[k - 1], at(k - 1)));
  }
  sum = hn::Add(sum, hn::Div(hn::Set(d, 0.5), s.high));
  const V decay = hn::Mul(Exponential(d, hn::Neg(s.high)), hn::Sub(one, rest));
  const V first =
      hn::Mul(hn::Mul(hn::Mul(a.high, hn::Set(d, 0x1.45f306dc9c883p-2)), decay), sum);  // 1 / pi
  const auto has_residue = hn::Lt(a.high, hn::Set(d, 6.283185307179586));
  if (hn::AllFalse(d, has_residue)) return first;
  const V angle = hn::Mul(hn::Min(a.high, hn::Set(d, 7.0)), hn::Set(d, 0x1.921fb54442d18p+3));
  const V residue = hn::Div(two, hn::Sub(Exponential(d, angle), one));  // angle = 4 pi a
  return hn::IfThenElse(has_residue, hn::Sub(first, residue), first);
}

// The error of erf x: that of what was computed by doubles, erf |x| below 1/4 and else erfc |x|,
// from which erf has no other error than those of double-double (2^-50 is far above them). So
// 1 + erf x keeps its digits where erf x is nearly -1.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ErrorOfErf(D d, V x, V erf) {
  const V size = hn::Abs(erf);
  const V rest = hn::Add(hn::Max(hn::Sub(hn::Set(d, 1.0), size), hn::Zero(d)), hn::Set(d, 0x1p-50));
  const auto is_near = hn::Lt(hn::Abs(x), hn::Set(d, 0.25));
  return hn::Mul(hn::IfThenElse(is_near, size, rest), hn::Set(d, kErrorOfDoubles));
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
