// e^x of vectors of f32 or f64, for the instruction set being compiled. Overflow gives infinity,
// underflow 0, NaN gives NaN, e^0 is 1. Largest error in ulps of the exact value's binade,
// subnormal results included: f32 0.92, confirmed by elementary_test.cc for all arguments; f64
// 0.87, derived here:
//
// x = n ln 2 + r with an integer n, and e^x = 2^n e^r. The steps:
//   r1 = x - n ln2_high    exact: ln2_high has so few bits that the product is exact, and r1 is a
//                          multiple of 2^-54 (the last place of x, n != 0) and less than 1/2
//   c  = n ln2_low         ln2_high + ln2_low = ln 2 (1 + 2^-101)
//   r  = r1 - c            |r| <= 0.3466
//   tail = r^2 q(r) - c    |r^2 q - (e^r - 1 - r)| <= 2^-56.3 e^r
//   h + l = 1 + r1         exact (Dekker)
//   e^r = h + (l + tail)   rounded
// Errors in units of 2^-53. An ulp of the result is one unit for r < 0, two units for r > 0.
//                               r < 0    r > 0
//   the last rounding            1/2       1
//   l + tail, |.| < 0.07         1/32     1/16
//   r^2 q - c, twice rounded     1/16     1/8
//   r^2, 2^-53 of r^2 q          0.054    0.068
//   q, half its last place r^2   0.03     0.06
//   r, 2^-55 (e^r - 1)           0.074    0.104
//   q for (e^r - 1 - r) / r^2    0.10     0.15
//   in ulps                      0.86     0.79
// If the result is subnormal, its last rounding replaces all but 2^-2 of this error. The bounds
// hold with and without fused multiplication. f32 uses fewer operations: 1 + (r1 + tail), or with
// fused multiplication (1 + r q) r + 1.
#if defined(SEXTANT_FAST_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_EXP_INL_H_
#undef SEXTANT_FAST_EXP_INL_H_
#else
#define SEXTANT_FAST_EXP_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr bool kFuses = HWY_NATIVE_FMA;  // MulAdd rounds once

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kRound = 0x1.8p23f;  // adding and subtracting it rounds to an integer
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  // 15 bits
  static constexpr float kLow = -104, kHigh = 89;  // e^x is 0 below kLow, infinity above kHigh
  static constexpr float kNormal = 87;             // e^-kNormal and its reciprocal are normal
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr int kUp = 64;  // 2^(n + kUp) is normal for kLow <= x <= 0
  static constexpr float kDown = 0x1p-64f;
  // (e^r - 1 - r) / r^2: the minimax polynomial for the error relative to e^r.
  static constexpr float kTail[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239dap-7f,
                                    0x1.6a2440p-10f};
};
template <>
struct ExpConstants<double> {
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;  // 42 bits
  static constexpr double kLow = -746, kHigh = 710, kNormal = 708;
  static constexpr int kMantissa = 52, kBias = 1023, kUp = 512;
  static constexpr double kDown = 0x1p-512;
  static constexpr double kTail[] = {
      0x1.000000000000ap-1,  0x1.55555555554fap-3,  0x1.5555555550889p-5,  0x1.1111111127bacp-7,
      0x1.6c16c184271a5p-10, 0x1.a01a012a657a8p-13, 0x1.a0199a14eef00p-16, 0x1.71df2540ba5cep-19,
      0x1.28ad6a86c7cc7p-22, 0x1.ad7f75465faddp-26};
};

// max(limit, x) and min(limit, x); NaN gives NaN: max and min of x86 return the second operand if
// one is NaN.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V AtLeast([[maybe_unused]] D d, V limit, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(limit, x);
#else
  return hn::IfThenElse(hn::Lt(x, limit), limit, x);
#endif
}
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V AtMost([[maybe_unused]] D d, V limit, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(limit, x);
#else
  return hn::IfThenElse(hn::Lt(limit, x), limit, x);
#endif
}

// sum_i c[i] x^i
template <class D, class T, size_t n, class V = hn::VFromD<D>>
HWY_INLINE V Polynomial(D d, const T (&c)[n], V x) {
  V sum = hn::Set(d, c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

// n: x / ln 2, or -x / ln 2 if `negated`, rounded to an integer. biased: a number whose lowest bits
// are n + kBias + up, the exponent field of 2^(n + up).
template <class V>
struct Exponent {
  V n, biased;
};
template <int up = 0, class D, class V = hn::VFromD<D>>
HWY_INLINE Exponent<V> NearestPower(D d, V x, bool negated = false) {
  using T = hn::TFromD<D>;
  using C = ExpConstants<T>;
  const V round = hn::Set(d, C::kRound + C::kBias + up);
  const V per_one = hn::Set(d, static_cast<T>(negated ? -1.4426950408889634 : 1.4426950408889634));
  const V biased = hn::MulAdd(x, per_one, round);
  return {hn::Sub(biased, round), biased};
}
// 2^(n + up), which must be a normal number.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V PowerOfTwo(D d, V biased) {
  const hn::RebindToUnsigned<D> du;
  constexpr int kMantissa = ExpConstants<hn::TFromD<D>>::kMantissa;
  return hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::BitCast(du, biased)));
}

// e^x = 2^n (1 + r1 + tail), for kLow <= x <= kHigh or NaN, n from NearestPower.
template <class V>
struct ExpParts {
  V r1, tail;
};
template <class D, class V = hn::VFromD<D>>
HWY_INLINE ExpParts<V> SplitExp(D d, V x, V n) {
  using C = ExpConstants<hn::TFromD<D>>;
  const V r1 = hn::NegMulAdd(n, hn::Set(d, C::kLn2High), x);
  const V c = hn::Mul(n, hn::Set(d, C::kLn2Low));
  const V r = hn::Sub(r1, c);
  const V tail = hn::MulSub(hn::Mul(r, r), Polynomial(d, C::kTail, r), c);
  return {r1, tail};
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr bool kScales = true;
// p 2^n rounded once, for any n. 0 if p is 0, also for n = -infinity.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Scale(D, V p, V n) {
  constexpr bool kSingle = sizeof(hn::TFromD<D>) == 4;
  if constexpr (sizeof(p.raw) == 64) {
    if constexpr (kSingle) return V{_mm512_scalef_ps(p.raw, n.raw)};
    if constexpr (!kSingle) return V{_mm512_scalef_pd(p.raw, n.raw)};
  } else if constexpr (sizeof(p.raw) == 32) {
    if constexpr (kSingle) return V{_mm256_scalef_ps(p.raw, n.raw)};
    if constexpr (!kSingle) return V{_mm256_scalef_pd(p.raw, n.raw)};
  } else {
    if constexpr (kSingle) return V{_mm_scalef_ps(p.raw, n.raw)};
    if constexpr (!kSingle) return V{_mm_scalef_pd(p.raw, n.raw)};
  }
}
#else
constexpr bool kScales = false;  // no instruction rounds p 2^n once
template <class D, class V = hn::VFromD<D>>
V Scale(D d, V p, V n);
#endif

// p 2^n rounded once, for integers n with |n| < 2 kBias and p in [1/2, 2].
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V TimesPowerOfTwo([[maybe_unused]] D d, V p, V n) {
  if constexpr (kScales) return Scale(d, p, n);
  using C = ExpConstants<hn::TFromD<D>>;
  // Multiplies by two powers of two, both normal numbers; the first product is exact.
  const V round = hn::Set(d, C::kRound + C::kBias);
  const V first = hn::MulAdd(n, hn::Set(d, 0.5), round);
  const V second = hn::Add(hn::Sub(n, hn::Sub(first, round)), round);
  return hn::Mul(hn::Mul(p, PowerOfTwo(d, first)), PowerOfTwo(d, second));
}

// e^x, or e^-x if `negated`, as 2^n p with p in [0.7, 1.42], for kLow <= x <= kHigh or NaN.
template <class V>
struct Scaled {
  Exponent<V> exponent;
  V p;
};
template <int up = 0, class D, class V = hn::VFromD<D>>
HWY_INLINE Scaled<V> ScaledExp(D d, V x, bool negated = false) {
  using C = ExpConstants<hn::TFromD<D>>;
  const V one = hn::Set(d, 1);
  const Exponent<V> e = NearestPower<up>(d, x, negated);
  if constexpr (sizeof(hn::TFromD<D>) == 4 && kFuses) {
    const V high = hn::Set(d, C::kLn2High);
    const V r1 = negated ? hn::NegMulSub(e.n, high, x) : hn::NegMulAdd(e.n, high, x);
    const V r = hn::NegMulAdd(e.n, hn::Set(d, C::kLn2Low), r1);
    const V s1 = hn::MulAdd(Polynomial(d, C::kTail, r), r, one);
    return {e, hn::MulAdd(s1, r, one)};
  }
  const auto [r1, tail] = SplitExp(d, negated ? hn::Neg(x) : x, e.n);
  if constexpr (sizeof(hn::TFromD<D>) == 4) return {e, hn::Add(one, hn::Add(r1, tail))};
  const V h = hn::Add(one, r1), l = hn::Sub(r1, hn::Sub(h, one));
  return {e, hn::Add(h, hn::Add(l, tail))};
}

// e^x for x <= 0 or NaN, as a softmax needs it. x < kLow gives 0 without an underflow: underflow
// costs x86 about 250 cycles per vector, and a softmax of masked scores has many such x.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ExpOfNegative(D d, V x) {
  using C = ExpConstants<hn::TFromD<D>>;
  const V low = hn::Set(d, C::kLow);
  const V bounded = kScales ? x : AtLeast(d, low, x);  // Scale needs no bounds
  const auto [exponent, scaled] = ScaledExp<C::kUp>(d, bounded);
  const V p = hn::IfThenZeroElse(hn::Lt(x, low), scaled);
  if constexpr (kScales) return Scale(d, p, exponent.n);
  // The first product is normal, hence exact.
  return hn::Mul(hn::Mul(p, PowerOfTwo(d, exponent.biased)), hn::Set(d, C::kDown));
}

// e^x
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ExpOf(D d, V x) {
  using C = ExpConstants<hn::TFromD<D>>;
  const V low = hn::Set(d, C::kLow);
  const auto [exponent, p] = ScaledExp(d, AtMost(d, hn::Set(d, C::kHigh), AtLeast(d, low, x)));
  return TimesPowerOfTwo(d, hn::IfThenZeroElse(hn::Lt(x, low), p), exponent.n);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
