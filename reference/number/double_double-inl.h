// Error-free sums and products of vectors of doubles, the same bits as in double_double.h. Included
// once for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_DOUBLE_DOUBLE) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_DOUBLE_DOUBLE
#undef SEXTANT_REFERENCE_DOUBLE_DOUBLE
#else
#define SEXTANT_REFERENCE_DOUBLE_DOUBLE
#endif

#include <hwy/highway.h>

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

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
