// Parts of attention for one query, for the instruction set being compiled. Vectors run along
// channels or along keys and have elements of type Computed<T>.
#if defined(SEXTANT_FAST_ATTEND_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ATTEND_ROW_INL_H_
#undef SEXTANT_FAST_ATTEND_ROW_INL_H_
#else
#define SEXTANT_FAST_ATTEND_ROW_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/simd/element-inl.h"
#include "fast/simd/row_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_i = x_i for i < n, rounded if Y is narrower than X.
template <class X, class Y>
HWY_INLINE void Convert(const X* x, Y* y, size_t n) {
  const hn::ScalableTag<Computed<X>> d;
  ForEachVector(d, n, [=](auto dk, size_t k) SEXTANT_INLINE { Write(dk, Read(dk, x + k), y + k); });
}

// sum_i q_i k_i
template <class T, class C = Computed<T>>
HWY_INLINE C DotOf(const C* q, const T* k, size_t n) {
  return RowSum<C>(n, [=](auto d, size_t i, auto sum) SEXTANT_INLINE {
    return hn::MulAdd(Read(d, q + i), Read(d, k + i), sum);
  });
}

// sum_i += weight x_i
template <class T, class C = Computed<T>>
HWY_INLINE void AddTimes(C weight, const T* x, C* sum, size_t n) {
  const hn::ScalableTag<C> d;
  ForEachVector(d, n, [=](auto dk, size_t k) SEXTANT_INLINE {
    const auto s = hn::LoadU(dk, sum + k);
    hn::StoreU(hn::MulAdd(hn::Set(dk, weight), Read(dk, x + k), s), dk, sum + k);
  });
}

// sum_i += weights_t x[t,i] for t < rows, one after the other, and for first <= i < end, where n -
// end < kVectors Lanes; returns end. The sums stay in registers, and none waits for another.
template <size_t kVectors, class T, class C = Computed<T>>
HWY_INLINE size_t AddBlocks(const C* weights, const T* x, size_t rows, size_t first, C* sum,
                            size_t n) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d);
  for (; first + kVectors * N <= n; first += kVectors * N) {
    hn::VFromD<decltype(d)> s[kVectors];
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) s[v] = hn::LoadU(d, sum + first + v * N);
    for (size_t t = 0; t < rows; ++t) {
      const auto weight = hn::Set(d, weights[t]);
#pragma GCC unroll 8
      for (size_t v = 0; v < kVectors; ++v)
        s[v] = hn::MulAdd(weight, Read(d, x + t * n + first + v * N), s[v]);
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(s[v], d, sum + first + v * N);
  }
  return first;
}
template <class T, class C = Computed<T>>
HWY_INLINE void AddRows(const C* weights, const T* x, size_t rows, C* sum, size_t n) {
  size_t k = AddBlocks<8>(weights, x, rows, 0, sum, n);
  k = AddBlocks<4>(weights, x, rows, k, sum, n);
  for (size_t t = 0; t < rows && k < n; ++t) AddTimes(weights[t], x + t * n + k, sum + k, n - k);
}

// Replaces the n > 0 numbers x by e^(x - largest); NaN gives NaN. If all are -infinity, they do not
// change and the sum is 0.
template <class C>
struct Powers {
  C largest, sum;  // the largest of the old x; the sum of the powers
};
template <class C>
HWY_INLINE Powers<C> ToPowers(C* x, size_t n) {
  constexpr C kNone = -std::numeric_limits<C>::infinity();
  C largest = LargestIn<C>(x, n);
  if (largest == kNone) {
    if (std::all_of(x, x + n, [](C each) { return each == kNone; })) return {largest, 0};
    largest = std::numeric_limits<C>::quiet_NaN();  // beside NaN
  }
  return {largest, Exponentials(x, largest, x, n)};
}

// 1 / (sum + e^(sink - largest)), or 1 / sum without a sink. Nothing overflows.
template <class C>
HWY_INLINE C Reciprocal(const Powers<C>& powers, const C* sink) {
  if (!sink) return 1 / powers.sum;
  const C most = std::max(powers.largest, *sink), factor = std::exp(powers.largest - most);
  return factor / (powers.sum * factor + std::exp(*sink - most));
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
