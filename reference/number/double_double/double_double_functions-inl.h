// Elementary functions of vectors of double-double numbers, with the error bounds of
// double_double.h and double_double_functions.h. The functions of single numbers are these with one
// lane, so they have the same bits. Included once for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_DOUBLE_DOUBLE_FUNCTIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_DOUBLE_DOUBLE_FUNCTIONS
#undef SEXTANT_REFERENCE_DOUBLE_DOUBLE_FUNCTIONS
#else
#define SEXTANT_REFERENCE_DOUBLE_DOUBLE_FUNCTIONS
#endif

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "reference/number/double_double/double_double-inl.h"
#include "reference/number/double_double/erf_coefficients.h"
#include "reference/number/double_double/inverse_factorials.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// sum of c[i] x^i, in double: for the last terms of a series, which need only their leading bits.
template <size_t n, class D, class V = VectorOf<D>>
HWY_INLINE V Horner(D d, const double (&c)[n], V x) {
  V sum = Set(d, c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = Add(Set(d, c[i]), Mul(x, sum));
  return sum;
}

// The sum of c[i] x^i plus x^n tail, each term at most as large as the one before it.
template <size_t n, class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Horner(D d, const DoubleDouble (&c)[n], const Double2<V>& x, V tail) {
  Double2<V> sum = SumOfLargerAnd(SetAll(d, c[n - 1]), ProductOf(d, x, tail));
  for (size_t i = n - 1; i-- > 0;) sum = SumOfLargerAnd(SetAll(d, c[i]), ProductOf(d, x, sum));
  return sum;
}

// x 2^exponent, for integer exponents.
template <class V>
struct ScaledDouble2 {
  Double2<V> x;
  V exponent;
};

// e^a for |a| <= 1000. With K the integer nearest to a / ln 2: r = a - K ln 2 adds an error of 2.8
// units. Let r be -ln(2) / 2, the worst case: 1 + p with p = -0.29 adds (2 1.29 + 0.71) / 0.71 =
// 4.7 units; p = r q, with q = 1 + r/2! + ... = 0.85, has an error of 5 units and the 5.5 of q,
// which are (2 1.15 + 0.85) / 0.85 = 3.7 of its last sum and 1.8 of what is behind it. |p| is 0.41
// of the result: together 2.8 + 4.7 + 4.4 units.
template <class D, class V = VectorOf<D>>
HWY_INLINE ScaledDouble2<V> ScaledExp(D d, const Double2<V>& a) {
  constexpr double kOneOverLn2 = 0x1.71547652b82fep+0, kLn2Third = 0x1.7b57a079a1934p-111;
  const V K = Round(Mul(a.high, Set(d, kOneOverLn2)));
  const auto p = TwoProduct(d, K, Set(d, kLn2.high));
  auto r = SumOf(TwoSum(a.high, Neg(p.high)), TwoSum(a.low, Neg(p.low)));
  r = SumOf(r, Negated(TwoProduct(d, K, Set(d, kLn2.low))));
  r = SumOf(r, Mul(Neg(K), Set(d, kLn2Third)));  // the rest of ln 2
  return {Horner(d, kInverseFactorial, r, Horner(d, kInverseFactorialFrom15, r.high)), K};
}

template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Unscaled(D d, const ScaledDouble2<V>& a) {
  return {Scaled(d, a.x.high, a.exponent), Scaled(d, a.x.low, a.exponent)};
}

// Beyond 1000 the result is 0 or infinity.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Exp(D d, const Double2<V>& a) {
  const V zero = Zero(d), infinity = Set(d, std::numeric_limits<double>::infinity());
  const V beyond = IfThenElse(Lt(a.high, zero), zero, Mul(a.high, infinity));  // or NaN
  return IfThenElse(Le(Abs(a.high), Set(d, 1000.0)), Unscaled(d, ScaledExp(d, a)),
                    Double2<V>{beyond, zero});
}

// For a < 1/4: a / (1 + a^2 / (3 + a^2 / (5 + ...))), truncated after 11 levels with an error of
// 2^-115. The levels from the 7th on contribute less than 2^-57 of the result and are computed in
// double. The last division adds an error of 15 units, the sum before it 3, and everything before
// that a fiftieth as much.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> TanhNearZero(D d, const Double2<V>& a) {
  constexpr int kLevels = 11, kPrecise = 6;  // the first 6 in double-double
  const auto square = ProductOf(d, a, a);
  V deep = Set(d, 2 * kLevels - 1);
  for (int k = kLevels - 1; k > kPrecise; --k)
    deep = Add(Set(d, 2 * k - 1), Div(square.high, deep));
  Double2<V> fraction{deep, Zero(d)};
  for (int k = kPrecise; k > 0; --k)
    fraction = SumOf(QuotientOf(d, square, fraction), Set(d, 2.0 * k - 1));
  return QuotientOf(d, a, fraction);
}

// (m - 1) / (m + 1) with m = e^2a: for m >= 1.65 an error of 12 units of m becomes 23 units; the
// difference, the sum and the division add 3 + 3 + 15. Beyond 40, 1 - 2 e^-80 is less than 2^-113
// away from 1.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Tanh(D d, const Double2<V>& a) {
  const V zero = Zero(d), one = Set(d, 1.0);
  const auto negative = Lt(a.high, zero);
  const auto size = IfThenElse(negative, Negated(a), a);
  const auto is_near = Lt(size.high, Set(d, 0.25));
  Double2<V> y{one, zero};
  if (!AllTrue(d, is_near)) {
    const auto m = Exp(d, Double2<V>{Add(size.high, size.high), Add(size.low, size.low)});
    const auto far = QuotientOf(d, SumOf(m, Neg(one)), SumOf(m, one));
    y = IfThenElse(Gt(size.high, Set(d, 40.0)), y, far);
  }
  if (!AllFalse(d, is_near)) y = IfThenElse(is_near, TanhNearZero(d, size), y);
  y = IfThenElse(negative, Negated(y), y);
  return IfThenElse(Eq(a.high, zero), a, y);
}

// Errors: 12 units of the exponential, 3 of the sum, 15 of the division.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Sigmoid(D d, const Double2<V>& a) {
  const V zero = Zero(d), one = Set(d, 1.0);
  const auto negative = Lt(a.high, zero);
  const auto e = Exp(d, IfThenElse(negative, a, Negated(a)));
  return QuotientOf(d, IfThenElse(negative, e, Double2<V>{one, zero}), SumOf(e, one));
}

// a / b with one division: <= 20. With i = 1 / b.high and t = a.high i, which differs from a / b by
// at most 2^-51 of it, b t has an error of 2 units; the low difference and the sum round by 2 and
// 4; i and its product with the rest have errors of 3 2^-53 of the rest, 12 units.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> RoughQuotientOf(D d, const Double2<V>& a, const Double2<V>& b) {
  const V inverse = Div(Set(d, 1.0), b.high), t = Mul(a.high, inverse);
  const auto r = ProductOf(d, b, t);
  const V rest = Add(Sub(a.high, r.high), Sub(a.low, r.low));
  return FastTwoSum(t, Mul(rest, inverse));
}

// For a < 1/4: the Taylor series; its next term is below 2^-112 of the sum. Errors: 4 units of the
// last sum, less than 1 of all sums and products before it, 5 of the last product.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ErfNearZero(D d, const Double2<V>& a) {
  const auto square = ProductOf(d, a, a);
  return ProductOf(d, a, Horner(d, kErf, square, Horner(d, kErfFrom10, square.high)));
}

// erfc a for 1/4 <= a <= 28: with h^2 = 1/8 and s = a^2
//   a h / pi e^-s (1/s + 2 e^(-h^2) / (s + h^2) + 2 e^(-4 h^2) / (s + 4 h^2) + ...)
//   - 2 / (e^(2 pi a / h) - 1),  without the second line for a > pi / h.
// The first line is the trapezoidal rule for the integral of e^(-t^2) / (s + t^2), the second the
// residue at t = i a. The error of the rule and of leaving out the terms beyond k = 25 is at most
// 2^-109 of the result (near a = pi / h; computed with mpmath from 1/4 to 40). The terms from k =
// 18 on, below 2^-59, are computed in double. Errors: s has 5 units, a term 5 + 2 + 20 and 1 of its
// numerator. A sum adds 3 units of all terms behind it, together 8 of the result. The exponential
// has 12 + 5 s, the three products 5 each, the constant 1: the first line has 64 + 5 s. The second
// line is at most 0.033 of the result; it has less than 60 units of itself where it counts. The
// difference adds 3: 67 + 5 s, and for a < 2 at most 52 units absolute. Source: Matta and Reichel
// 1971, "Uniform computation of the error function and other related functions", Math. Comp.
// 25(114).
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ErfcBySum(D d, const Double2<V>& a) {
  const V zero = Zero(d), one = Set(d, 1.0);
  const auto s = ProductOf(d, a, a);
  V tail = zero;
  for (size_t i = std::size(kGaussianFrom18); i-- > 0;) {
    const double k = static_cast<double>(i + 18);
    tail = Add(tail, Div(Set(d, kGaussianFrom18[i]), Add(s.high, Set(d, k * k / 8))));
  }
  Double2<V> odd{tail, zero}, even{zero, zero};  // two chains: each sum waits for the one before it
  for (size_t k = std::size(kGaussian); --k > 0;) {
    const auto below = SumOf(s, Set(d, static_cast<double>(k * k) / 8));
    Double2<V>& sum = k % 2 == 0 ? even : odd;
    sum = SumOfSameSign(sum, RoughQuotientOf(d, SetAll(d, kGaussian[k]), below));
  }
  even = SumOfSameSign(even, RoughQuotientOf(d, Double2<V>{Set(d, 0.5), zero}, s));
  const auto sum = SumOfSameSign(odd, even);
  const auto factor = ProductOf(d, a, SetAll(d, kOneOverRootTwoPi));
  auto decay = ScaledExp(d, Negated(s));
  decay.x = ProductOf(d, ProductOf(d, factor, decay.x), sum);  // before it may underflow
  const auto first = Unscaled(d, decay);
  const auto has_residue = Lt(a.high, Set(d, 8.875));  // below pi / h
  if (AllFalse(d, has_residue)) return first;
  const auto growth = Exp(d, ProductOf(d, a, SetAll(d, kPoleDecay)));
  const auto residue = QuotientOf(d, {Set(d, 2.0), zero}, SumOf(growth, Neg(one)));
  return IfThenElse(has_residue, SumOf(first, Negated(residue)), first);
}

template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> AbsOf(D d, const Double2<V>& a) {
  return IfThenElse(Lt(a.high, Zero(d)), Negated(a), a);
}

// What erf and erfc have in common: erf a for 0 <= a < 1/4, and else erfc a, which is below every
// double for a > 28.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ErfOrErfc(D d, const Double2<V>& a) {
  const V zero = Zero(d);
  const auto is_near = Lt(a.high, Set(d, 0.25));
  Double2<V> y{zero, zero};
  if (!AllTrue(d, is_near)) y = IfThenElse(Gt(a.high, Set(d, 28.0)), y, ErfcBySum(d, a));
  return AllFalse(d, is_near) ? y : IfThenElse(is_near, ErfNearZero(d, a), y);
}

// `common` is ErfOrErfc(|a|). From 1/4 on erf is at least 0.276: 52 units of erfc are 189 of it,
// and the difference adds 3.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Erf(D d, const Double2<V>& a, const Double2<V>& common) {
  const auto is_near = Lt(Abs(a.high), Set(d, 0.25));
  const auto y = IfThenElse(is_near, common, SumOf(Negated(common), Set(d, 1.0)));
  return IfThenElse(Lt(a.high, Zero(d)), Negated(y), y);
}

// 1 - erf a, 1 + erf |a|, 2 - erfc |a| or erfc a.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> Erfc(D d, const Double2<V>& a, const Double2<V>& common) {
  const auto is_near = Lt(Abs(a.high), Set(d, 0.25)), is_negative = Lt(a.high, Zero(d));
  const V whole = IfThenElse(is_near, Set(d, 1.0), Set(d, 2.0));
  const auto is_added = And(is_near, is_negative);
  const auto y = SumOf(IfThenElse(is_added, common, Negated(common)), whole);
  return IfThenElse(Or(is_near, is_negative), y, common);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
