// Sigmoid, tanh, erf and the activations that use them, for vectors of f32 or f64 and the
// instruction set being compiled. NaN gives NaN. Infinities give the limits of the function, with
// one exception: swish and both GELUs multiply -infinity by 0 and give NaN.
//
// Largest errors, with u = 2^-24 (f64: 2^-53). They follow from the error of e^x (exp-inl.h); an
// ulp is at most 2 u.
//   TimesSigmoid  4 u |y| + 2^-149 (f64: 2^-1074): e^-x 2 u, the sum u, the quotient u
//   TanhOf        4 u |y|: derived at the function
//   ErfOf         2 ulps, for f32 1.6: derived at the function
// elementary_test.cc confirms the bounds of f32 for all arguments.
#if defined(SEXTANT_FAST_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ACTIVATION_INL_H_
#undef SEXTANT_FAST_ACTIVATION_INL_H_
#else
#define SEXTANT_FAST_ACTIVATION_INL_H_
#endif

#include <algorithm>
#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fast/simd/element-inl.h"
#include "fast/simd/exp-inl.h"
#include "fast/simd/stream.h"
#include "reference/layer/activation.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// factor / (1 + e^-x), or factor e^x / (1 + e^x) for x < 0: nothing overflows, and both tails are
// accurate.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V TimesSigmoidAnywhere(D d, V factor, V x) {
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(factor, e), factor);
  return hn::Div(numerator, hn::Add(hn::Set(d, 1), e));
}
// The same with fewer operations, for x >= -kNormal (e^-x cannot overflow) or NaN.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V TimesSigmoidNear(D d, V factor, V x) {
  const V most = hn::Set(d, ExpConstants<hn::TFromD<D>>::kNormal);
  const auto [exponent, p] = ScaledExp(d, AtMost(d, most, x), true);
  return hn::Div(factor, hn::MulAdd(p, PowerOfTwo(d, exponent.biased), hn::Set(d, 1)));
}
// `near`: the caller guarantees that x is >= -kNormal or NaN.
template <bool near = false, class D, class V = hn::VFromD<D>>
HWY_INLINE V TimesSigmoid(D d, V factor, V x) {
  if constexpr (near) return TimesSigmoidNear(d, factor, x);
  const V least = hn::Set(d, -ExpConstants<hn::TFromD<D>>::kNormal);
  const bool all_near = hn::AllFalse(d, hn::Lt(x, least));
  if (HWY_LIKELY(all_near)) return TimesSigmoidNear(d, factor, x);
  return TimesSigmoidAnywhere(d, factor, x);
}

// tanh |x| = -t / (2 + t) with t = e^(-2|x|) - 1, which is accurate near 0.
// Errors in u |y|. They are largest at 2|x| = 0.35 (t = -0.293):
//   t = 2^n s + (2^n - 1), s = e^r - 1 as in exp-inl.h: s contributes 1.2, the sum 0.85; together
//   2.4 in y, since |d ln y / d ln t| = 2 / (2 + t) = 1.17
//   2 + t  0.6;  the quotient 1
// For smaller |x|, t is s, whose error is 1.6, and 2 / (2 + t) is closer to 1. For larger |x|, t is
// closer to -1 with the same absolute error.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V TanhOf(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kMost = sizeof(T) == 4 ? 10 : 20;  // tanh of larger x rounds to 1
  const V one = hn::Set(d, 1);
  const V a = AtMost(d, hn::Set(d, kMost), hn::Abs(x));
  const V minus = hn::Mul(a, hn::Set(d, -2));
  const Exponent<V> exponent = NearestPower(d, minus);
  const auto [r1, tail] = SplitExp(d, minus, exponent.n);
  const V power = PowerOfTwo(d, exponent.biased);
  const V t = hn::MulAdd(power, hn::Add(r1, tail), hn::Sub(power, one));
  const V y = hn::Div(hn::Neg(t), hn::Add(t, hn::Set(d, 2)));
  return hn::CopySignToAbs(hn::Abs(y), x);
}

// Minimax polynomials for the error relative to erf: kNear approximates erf(x) / x - 1 in x^2 for
// |x| < kBorder, kFar approximates ln(1 - erf(x)) in x - kBorder for larger x.
template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float kBorder = 0x1.15cp0f, kMost = 4;  // erf of larger x rounds to 1
  static constexpr float kNear[] = {0x1.06eba8p-3f,  -0x1.812736p-2f, 0x1.ce2b18p-4f,
                                    -0x1.b7d5bap-6f, 0x1.52e728p-8f,  -0x1.9bcad6p-11f,
                                    0x1.3357eep-14f};
  static constexpr float kFar[] = {-0x1.0a3bp+1f,   -0x1.643caap+1f, -0x1.b4e90ap-1f,
                                   -0x1.3742d6p-5f, 0x1.1ac026p-7f,  -0x1.5c2856p-10f,
                                   0x1.2fe3aap-14f};
};
template <>
struct ErfConstants<double> {
  static constexpr double kBorder = 0x1.15cp0, kMost = 6;
  static constexpr double kNear[] = {
      0x1.06eba8214db69p-3,  -0x1.812746b037a1ap-2,  0x1.ce2f21a044a5ap-4,  -0x1.b82ce312fa4b3p-6,
      0x1.565bcd1c0b31p-8,   -0x1.c02db5ea4c1d2p-11, 0x1.f9a351f230344p-14, -0x1.f4d4c52108a36p-17,
      0x1.b9fc8a8fc8984p-20, -0x1.5fe3fcf1dde9dp-23, 0x1.fe36dfc9af6f9p-27, -0x1.4844df96008dbp-30,
      0x1.268d03603e98fp-34};
  static constexpr double kFar[] = {
      -0x1.0a3aff9c992d7p+1,  -0x1.643ccf7186afcp+1,  -0x1.b4e0d550e124cp-1,
      -0x1.39ae04033cdf8p-5,  0x1.2e1d07dba7c85p-7,   -0x1.e5f72a5bbb657p-10,
      0x1.03f8fae81ab6p-12,   0x1.55a74bab116fdp-17,  -0x1.57e9f5a558af4p-16,
      0x1.0bda2f3ed6ad4p-17,  -0x1.0633cef8ecd93p-19, 0x1.254f5a5e17574p-22,
      0x1.a30664599f925p-27,  -0x1.417b4e54d49d2p-26, 0x1.7656faa09b136p-28,
      -0x1.ebcb7da298b74p-31, 0x1.7137cecee18aap-34,  -0x1.eef9ae29bb872p-39};
};

// |x| < kBorder:  |x| + |x| q(x^2);  larger |x|: 1 - e^g(|x| - kBorder). The relative error of both
// formulas is 2^-27.3 (f64 2^-56.1). Rounding errors in ulps of a result in [1/2, 1), without fused
// multiplication, at the border, where they are largest:
//   |x| < kBorder:
//     the last sum 0.5; |x| q (value 0.21): its product 0.13; q (value -0.19): its last sum 0.13,
//     the product before it 0.54, x^2 0.29, the terms before that 0.28; the approximation 0.11
//   |x| >= kBorder:
//     the last sum 0.5; e^g (value 0.125): e^ 0.11, g 0.28; the approximation 0.03
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ErfOf(D d, V x) {
  using C = ErfConstants<hn::TFromD<D>>;
  const V border = hn::Set(d, C::kBorder);
  const V a = AtMost(d, hn::Set(d, C::kMost), hn::Abs(x));
  const V near = hn::MulAdd(a, Polynomial(d, C::kNear, hn::Mul(a, a)), a);
  const V far =
      hn::Sub(hn::Set(d, 1), ExpOfNegative(d, Polynomial(d, C::kFar, hn::Sub(a, border))));
  return hn::CopySignToAbs(hn::Abs(hn::IfThenElse(hn::Lt(a, border), near, far)), x);
}

// The activation of that kind. `near`: x is at least LeastNear; `unit`: beta is 1.
template <ActivationKind kind, bool near = false, bool unit = false, class D,
          class V = hn::VFromD<D>>
HWY_INLINE V ActivationOf(D d, V x, V beta) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d), one = hn::Set(d, 1);
  const V half = hn::Mul(x, hn::Set(d, static_cast<T>(0.5)));
  if constexpr (kind == ActivationKind::kSigmoid) return TimesSigmoid<near>(d, one, x);
  if constexpr (kind == ActivationKind::kSwish)
    return TimesSigmoid<near>(d, x, unit ? x : hn::Mul(x, beta));
  if constexpr (kind == ActivationKind::kTanh) return TanhOf(d, x);
  if constexpr (kind == ActivationKind::kRelu) return AtLeast(d, zero, x);
  if constexpr (kind == ActivationKind::kRelu2) {
    const V y = AtLeast(d, zero, x);
    return hn::Mul(y, y);
  }
  if constexpr (kind == ActivationKind::kGelu) {
    const V t = hn::Mul(x, hn::Set(d, static_cast<T>(0.70710678118654752)));
    return hn::Mul(half, hn::Add(one, ErfOf(d, t)));
  }
  if constexpr (kind == ActivationKind::kGeluTanh) {
    const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, static_cast<T>(0.044715)), one);
    const V t = hn::Mul(hn::Mul(x, cubic), hn::Set(d, static_cast<T>(0.79788456080286536)));
    return hn::Mul(half, hn::Add(one, TanhOf(d, t)));
  }
}

// The lower bound of x for `near`; Unbounded if the activation has no special code for `near`.
struct Unbounded {};
template <ActivationKind kind, class T>
auto LeastNear(T beta) {
  constexpr T kNormal = ExpConstants<T>::kNormal;
  if constexpr (kind == ActivationKind::kSigmoid) {
    return -kNormal;
  } else if constexpr (kind == ActivationKind::kSwish) {
    return beta >= 0 ? -kNormal / beta : std::numeric_limits<T>::infinity();
  } else {
    return Unbounded();
  }
}

// True if no element of the `vectors` vectors that begin at x is less than `least`.
template <size_t vectors, class D, class T>
HWY_INLINE bool AreNear(D d, hn::TFromD<D> least, const T* x) {
  auto lowest = hn::Zero(d);
  for (size_t i = 0; i < vectors; ++i) lowest = AtMost(d, Read(d, x + i * hn::Lanes(d)), lowest);
  return hn::AllFalse(d, hn::Lt(lowest, hn::Set(d, least)));
}

// y_i = f(near, d, x_i ...) for i < count and any number of input arrays x. The last, partial
// vector is padded with zeros. `near` is std::true_type for vectors whose elements in the first
// array are all at least `least`.
template <class T, class Least, class F, class... X>
HWY_INLINE void FillVectors(size_t count, Least least, const F& f, T* y, const X*... x) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t N = hn::Lanes(d);
  const Rounding rounding = RoundingTo<T>();
  const auto fill = [&](auto near, size_t begin, size_t end) SEXTANT_INLINE {
    WriteVectors(d, begin, end, rounding, y,
                 [&](auto dk, size_t k) SEXTANT_INLINE { return f(near, dk, Read(dk, x + k)...); });
  };
  const std::false_type far;
  size_t k = 0;
  if constexpr (!std::same_as<Least, Unbounded>) {
    constexpr size_t kGroup = 4;  // vectors that are tested together
    const T* first = std::get<0>(std::tuple(x...));
    for (size_t end; (end = k + kGroup * N) <= count; k = end) {
      if (HWY_LIKELY(AreNear<kGroup>(d, least, first + k))) {
        fill(std::true_type(), k, end);
      } else {
        fill(far, k, end);
      }
    }
  }
  const size_t whole = count - (count - k) % N;
  fill(far, k, whole);
  if (whole == count) return;
  T rest[sizeof...(x) + 1][hn::MaxLanes(d)] = {};  // one row per x, the last row for y
  const auto fill_rest = [&]<size_t... i>(std::index_sequence<i...>) SEXTANT_INLINE {
    (std::copy_n(x + whole, count - whole, rest[i]), ...);
    Write(d, f(far, d, Read(d, rest[i])...), rest[sizeof...(i)]);
  };
  fill_rest(std::index_sequence_for<X...>());
  std::copy_n(rest[sizeof...(x)], count - whole, y + whole);
}

// The same, with streaming stores if `stream`.
template <class T, class Least, class F, class... X>
HWY_INLINE void FillRow(size_t count, bool stream, Least least, const F& f, T* y, const T* x0,
                        const X*... x) {
  WriteRow(count, stream, y, [&](size_t i, size_t n, T* to) SEXTANT_INLINE {
    FillVectors(n, least, f, to, x0 + i, (x + i)...);
    return x0 + i + n;
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
