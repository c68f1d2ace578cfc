// The sum, the largest element and the exponentials of a row, for the instruction set being
// compiled. Sums use 4 accumulators per lane.
#if defined(SEXTANT_FAST_ROW_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ROW_SUM_INL_H_
#undef SEXTANT_FAST_ROW_SUM_INL_H_
#else
#define SEXTANT_FAST_ROW_SUM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "fast/simd/element-inl.h"
#include "fast/simd/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// The sum of n terms of type C; add(d, k, s) returns s plus the terms k .. k + Lanes(d) - 1.
template <class C, class Add>
HWY_INLINE C RowSum(size_t n, const Add& add) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t k = 0;
  for (; k + 4 * N <= n; k += 4 * N) {
    s0 = add(d, k, s0);
    s1 = add(d, k + N, s1);
    s2 = add(d, k + 2 * N, s2);
    s3 = add(d, k + 3 * N, s3);
  }
  for (; k + N <= n; k += N) s0 = add(d, k, s0);
  C sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  const hn::CappedTag<C, 1> one;
  for (; k < n; ++k) sum = hn::GetLane(add(one, k, hn::Set(one, sum)));
  return sum;
}

// The largest of n elements, -infinity if there is none; unspecified if one is NaN.
template <class T, class C = Computed<T>>
HWY_INLINE C LargestIn(const T* x, size_t n) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d);
  auto m0 = hn::Set(d, -std::numeric_limits<C>::infinity()), m1 = m0, m2 = m0, m3 = m0;
  size_t k = 0;
  for (; k + 4 * N <= n; k += 4 * N) {
    m0 = hn::Max(m0, Read(d, x + k));
    m1 = hn::Max(m1, Read(d, x + k + N));
    m2 = hn::Max(m2, Read(d, x + k + 2 * N));
    m3 = hn::Max(m3, Read(d, x + k + 3 * N));
  }
  for (; k + N <= n; k += N) m0 = hn::Max(m0, Read(d, x + k));
  C largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  const hn::CappedTag<C, 1> one;
  for (; k < n; ++k) largest = std::max(largest, hn::GetLane(Read(one, x + k)));
  return largest;
}

// terms_k = e^(x_k - largest) for k < n; returns their sum. terms may be x.
template <class T, class C = Computed<T>>
HWY_INLINE C Exponentials(const T* x, C largest, C* terms, size_t n) {
  return RowSum<C>(n, [=](auto d, size_t k, auto sum) SEXTANT_INLINE {
    const auto e = ExpOfNegative(d, hn::Sub(Read(d, x + k), hn::Set(d, largest)));
    hn::StoreU(e, d, terms + k);
    return hn::Add(sum, e);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
