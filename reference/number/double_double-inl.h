// Error-free sums and products of vectors of doubles, the same bits as in double_double.h. Included
// once for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_DOUBLE_DOUBLE) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_DOUBLE_DOUBLE
#undef SEXTANT_REFERENCE_DOUBLE_DOUBLE
#else
#define SEXTANT_REFERENCE_DOUBLE_DOUBLE
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "reference/number/double_double.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Double2 {
  V high, low;
};

template <class V>
HWY_INLINE Double2<V> TwoSum(V a, V b) {
  const V s = hn::Add(a, b), c = hn::Sub(s, b), d = hn::Sub(s, c);
  return {s, hn::Add(hn::Sub(a, c), hn::Sub(b, d))};
}

template <class V>
HWY_INLINE Double2<V> FastTwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  return {s, hn::Sub(b, hn::Sub(s, a))};
}

// a * b exactly. Without fused operations, a and b are split into halves of 26 bits (Dekker 1971,
// doi:10.1007/BF01397083).
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> TwoProduct(D d, V a, V b) {
  const V p = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  (void)d;
  return {p, hn::MulSub(a, b, p)};
#else
  const V splitter = hn::Set(d, 0x1p27 + 1);
  const V ta = hn::Mul(splitter, a), tb = hn::Mul(splitter, b);
  const V ah = hn::Sub(ta, hn::Sub(ta, a)), bh = hn::Sub(tb, hn::Sub(tb, b));
  const V al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
  const V crosses = hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh));
  return {p, hn::Add(crosses, hn::Mul(al, bl))};
#endif
}

// a b + c, rounded once.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V RoundedOnce(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  HWY_ALIGN double x[hn::MaxLanes(d)], y[hn::MaxLanes(d)], z[hn::MaxLanes(d)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> SetAll(D d, const DoubleDouble& x) {
  return {hn::Set(d, x.high), hn::Set(d, x.low)};
}

template <class M, class V>
HWY_INLINE Double2<V> IfThenElse(M mask, const Double2<V>& a, const Double2<V>& b) {
  return {hn::IfThenElse(mask, a.high, b.high), hn::IfThenElse(mask, a.low, b.low)};
}

template <class V>
HWY_INLINE Double2<V> Negated(const Double2<V>& a) {
  return {hn::Neg(a.high), hn::Neg(a.low)};
}

template <class V>
HWY_INLINE Double2<V> SumOf(const Double2<V>& a, const Double2<V>& b) {
  const auto s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const auto v = FastTwoSum(s.high, hn::Add(s.low, t.high));
  return FastTwoSum(v.high, hn::Add(t.low, v.low));
}

// The sum with doubles.
template <class V>
HWY_INLINE Double2<V> SumOf(const Double2<V>& a, V b) {
  const auto s = TwoSum(a.high, b);
  return FastTwoSum(s.high, hn::Add(a.low, s.low));
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> ProductOf(D d, const Double2<V>& a, const Double2<V>& b) {
  const auto c = TwoProduct(d, a.high, b.high);
  const V lowest = RoundedOnce(d, a.high, b.low, hn::Mul(a.low, b.low));
  return FastTwoSum(c.high, hn::Add(c.low, RoundedOnce(d, a.low, b.high, lowest)));
}

// a b for a double a: what ProductOf gives if a.low is 0.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> ProductOf(D d, V a, const Double2<V>& b) {
  const auto c = TwoProduct(d, a, b.high);
  return FastTwoSum(c.high, hn::Add(c.low, hn::Mul(a, b.low)));
}

// The product with doubles.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> ProductOf(D d, const Double2<V>& a, V b) {
  const auto c = TwoProduct(d, a.high, b);
  return FastTwoSum(c.high, RoundedOnce(d, a.low, b, c.low));
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> QuotientOf(D d, const Double2<V>& a, const Double2<V>& b) {
  const V t = hn::Div(a.high, b.high);
  const auto r = ProductOf(d, b, t);
  const V rest = hn::Add(hn::Sub(a.high, r.high), hn::Sub(a.low, r.low));
  return FastTwoSum(t, hn::Div(rest, b.high));
}

// 2^n for integers n from -1022 to 1023.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V PowerOfTwoOf(D d, V n) {
  const hn::RebindToUnsigned<D> bits;
  // The last bits of the sum are those of n.
  const auto shifted = hn::BitCast(bits, hn::Add(n, hn::Set(d, 0x1.8p52)));
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<52>(shifted), hn::BitCast(bits, hn::Set(d, 1.0))));
}

// x 2^n for integers |n| <= 2000 and |x| <= 2^20: rounded once, unless |x| < 2^-20 and n < 0.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Scaled(D d, V x, V n) {
  const V half = hn::Round(hn::Mul(n, hn::Set(d, 0.5)));
  return hn::Mul(hn::Mul(x, PowerOfTwoOf(d, half)), PowerOfTwoOf(d, hn::Sub(n, half)));
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
