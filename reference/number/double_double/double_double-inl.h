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

#include "reference/number/double_double/double_double.h"
#include "reference/number/double_double/twin_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Double2 {
  V high, low;
};

template <class V>
HWY_INLINE Double2<V> TwoSum(V a, V b) {
  const V s = Add(a, b), c = Sub(s, b), d = Sub(s, c);
  return {s, Add(Sub(a, c), Sub(b, d))};
}

template <class V>
HWY_INLINE Double2<V> FastTwoSum(V a, V b) {
  const V s = Add(a, b);
  return {s, Sub(b, Sub(s, a))};
}

// a b + c, rounded once.
template <class D, class V = VectorOf<D>>
HWY_INLINE V RoundedOnce(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return MulAdd(a, b, c);
#else
  HWY_ALIGN double x[hn::MaxLanes(d)], y[hn::MaxLanes(d)], z[hn::MaxLanes(d)];
  Store(a, d, x);
  Store(b, d, y);
  Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return Load(d, z);
#endif
}

template <class D, class V = VectorOf<TwinTag<D>>>
HWY_INLINE V RoundedOnce(TwinTag<D> d, V a, V b, V c) {
  return {RoundedOnce(d.half, a.first, b.first, c.first),
          RoundedOnce(d.half, a.second, b.second, c.second)};
}

// a * b exactly. Without fused operations, a and b are split into halves of 26 bits (Dekker 1971,
// doi:10.1007/BF01397083).
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> TwoProduct(D d, V a, V b) {
  const V p = Mul(a, b);
#if HWY_NATIVE_FMA
  return {p, RoundedOnce(d, a, b, Neg(p))};
#else
  const V splitter = Set(d, 0x1p27 + 1);
  const V ta = Mul(splitter, a), tb = Mul(splitter, b);
  const V ah = Sub(ta, Sub(ta, a)), bh = Sub(tb, Sub(tb, b));
  const V al = Sub(a, ah), bl = Sub(b, bh);
  const V crosses = Add(Add(Sub(Mul(ah, bh), p), Mul(ah, bl)), Mul(al, bh));
  return {p, Add(crosses, Mul(al, bl))};
#endif
}

template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> SetAll(D d, const DoubleDouble& x) {
  return {Set(d, x.high), Set(d, x.low)};
}

template <class M, class V>
HWY_INLINE Double2<V> IfThenElse(M mask, const Double2<V>& a, const Double2<V>& b) {
  return {IfThenElse(mask, a.high, b.high), IfThenElse(mask, a.low, b.low)};
}

template <class V>
HWY_INLINE Double2<V> Negated(const Double2<V>& a) {
  return {Neg(a.high), Neg(a.low)};
}

template <class V>
HWY_INLINE Double2<V> SumOf(const Double2<V>& a, const Double2<V>& b) {
  const auto s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const auto v = FastTwoSum(s.high, Add(s.low, t.high));
  return FastTwoSum(v.high, Add(t.low, v.low));
}

// a + b for numbers of the same sign: <= 3 units. Source: JMP (double_double.h), algorithm 5.
template <class V>
HWY_INLINE Double2<V> SumOfSameSign(const Double2<V>& a, const Double2<V>& b) {
  const auto s = TwoSum(a.high, b.high);
  return FastTwoSum(s.high, Add(s.low, Add(a.low, b.low)));
}

// a + b for |a| >= |b|; the error is at most (2 (|a| + |b|) + |a + b|) 2^-106: the low parts are at
// most 2^-53 of their numbers, and their sum and the sum with s.low round by 2^-53.
template <class V>
HWY_INLINE Double2<V> SumOfLargerAnd(const Double2<V>& a, const Double2<V>& b) {
  const auto s = FastTwoSum(a.high, b.high);
  return FastTwoSum(s.high, Add(s.low, Add(a.low, b.low)));
}

// The sum with doubles.
template <class V>
HWY_INLINE Double2<V> SumOf(const Double2<V>& a, V b) {
  const auto s = TwoSum(a.high, b);
  return FastTwoSum(s.high, Add(a.low, s.low));
}

template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ProductOf(D d, const Double2<V>& a, const Double2<V>& b) {
  const auto c = TwoProduct(d, a.high, b.high);
  const V lowest = RoundedOnce(d, a.high, b.low, Mul(a.low, b.low));
  return FastTwoSum(c.high, Add(c.low, RoundedOnce(d, a.low, b.high, lowest)));
}

// a b for a double a: what ProductOf gives if a.low is 0.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ProductOf(D d, V a, const Double2<V>& b) {
  const auto c = TwoProduct(d, a, b.high);
  return FastTwoSum(c.high, Add(c.low, Mul(a, b.low)));
}

// The product with doubles.
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> ProductOf(D d, const Double2<V>& a, V b) {
  const auto c = TwoProduct(d, a.high, b);
  return FastTwoSum(c.high, RoundedOnce(d, a.low, b, c.low));
}

template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> QuotientOf(D d, const Double2<V>& a, const Double2<V>& b) {
  const V t = Div(a.high, b.high);
  const auto r = ProductOf(d, b, t);
  const V rest = Add(Sub(a.high, r.high), Sub(a.low, r.low));
  return FastTwoSum(t, Div(rest, b.high));
}

// 2^n for integers n from -1022 to 1023.
template <class D, class V = VectorOf<D>>
HWY_INLINE V PowerOfTwoOf(D d, V n) {
  const hn::RebindToUnsigned<D> bits;
  // The last bits of the sum are those of n.
  const auto shifted = hn::BitCast(bits, Add(n, Set(d, 0x1.8p52)));
  return hn::BitCast(d, Add(hn::ShiftLeft<52>(shifted), hn::BitCast(bits, Set(d, 1.0))));
}

template <class D, class V = VectorOf<TwinTag<D>>>
HWY_INLINE V PowerOfTwoOf(TwinTag<D> d, V n) {
  return {PowerOfTwoOf(d.half, n.first), PowerOfTwoOf(d.half, n.second)};
}

// x 2^n for integers |n| <= 2000 and |x| <= 2^20: rounded once, unless |x| < 2^-20 and n < 0.
template <class D, class V = VectorOf<D>>
HWY_INLINE V Scaled(D d, V x, V n) {
  const V half = Round(Mul(n, Set(d, 0.5)));
  return Mul(Mul(x, PowerOfTwoOf(d, half)), PowerOfTwoOf(d, Sub(n, half)));
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
