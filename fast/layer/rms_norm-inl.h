// The two passes of RMSNorm over a row, for the instruction set being compiled.
#if defined(SEXTANT_FAST_RMS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_RMS_NORM_INL_H_
#undef SEXTANT_FAST_RMS_NORM_INL_H_
#else
#define SEXTANT_FAST_RMS_NORM_INL_H_
#endif

#include "fast/simd/element-inl.h"
#include "fast/simd/row_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// sum_k x_k^2
template <class T>
HWY_INLINE Computed<T> SumOfSquares(const T* x, size_t n) {
  return RowSum<Computed<T>>(n, [x](auto d, size_t k, auto s) SEXTANT_INLINE {
    const auto a = Read(d, x + k);
    return hn::MulAdd(a, a, s);
  });
}

// y_k = (x_k factor) w_k, w_k = weight_k or 1 + weight_k
template <class T>
HWY_INLINE void ScaleByWeights(const T* x, Computed<T> factor, const Computed<T>* weight,
                               bool unit_offset, T* y, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  const Computed<T> offset = unit_offset ? 1 : 0;
  WriteEach(d, n, y, [=](auto dk, size_t k) SEXTANT_INLINE {
    // 0 + w is w, so the same code serves both kinds of weight.
    const auto w = hn::Add(hn::Set(dk, offset), Read(dk, weight + k));
    return hn::Mul(hn::Mul(Read(dk, x + k), hn::Set(dk, factor)), w);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
