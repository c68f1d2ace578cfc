// Vectors of double-double numbers, for the instruction set being compiled. Same algorithms and
// error bounds as reference/number/double_double/double_double.h: a sum 3.01 units of 2^-106, a
// product 5 with fused operations and 7 without (JMP, algorithms 12 and 10).
#if defined(SEXTANT_FAST_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_DOUBLE_DOUBLE_INL_H_
#undef SEXTANT_FAST_DOUBLE_DOUBLE_INL_H_
#else
#define SEXTANT_FAST_DOUBLE_DOUBLE_INL_H_
#endif

#include <hwy/highway.h>

#include "reference/number/double_double/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ::sextant::HWY_NAMESPACE::Double2;
using ::sextant::HWY_NAMESPACE::FastTwoSum;
using ::sextant::HWY_NAMESPACE::TwoProduct;
using ::sextant::HWY_NAMESPACE::TwoSum;

template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> Multiply(D d, const Double2<V>& a, const Double2<V>& b) {
  const Double2<V> c = TwoProduct(d, a.high, b.high);
  const V cross = hn::MulAdd(a.low, b.high, hn::Mul(a.high, b.low));
  return FastTwoSum(c.high, hn::Add(c.low, cross));
}

template <class V>
HWY_INLINE Double2<V> Add(const Double2<V>& a, const Double2<V>& b) {
  const Double2<V> s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const Double2<V> v = FastTwoSum(s.high, hn::Add(s.low, t.high));
  return FastTwoSum(v.high, hn::Add(t.low, v.low));
}

template <class V>
HWY_INLINE Double2<V> Subtract(const Double2<V>& a, const Double2<V>& b) {
  return Add(a, {hn::Neg(b.high), hn::Neg(b.low)});
}

// cos and sin of an angle, both multiplied by an amplitude.
template <class V>
struct CosSin {
  Double2<V> cosine, sine;
};

// cos(a+b) = cos a cos b - sin a sin b, sin(a+b) = sin a cos b + cos a sin b. The error of either
// is at most 11 units of 2^-106 times the product of the amplitudes.
template <class D, class V>
HWY_INLINE CosSin<V> Combine(D d, const CosSin<V>& a, const CosSin<V>& b) {
  return {Subtract(Multiply(d, a.cosine, b.cosine), Multiply(d, a.sine, b.sine)),
          Add(Multiply(d, a.sine, b.cosine), Multiply(d, a.cosine, b.sine))};
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
