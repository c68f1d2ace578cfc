#include "fast/position/scale_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/position/scale_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <vector>

#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void ScaleAll(size_t rows, size_t width, const T* x, const Computed<T>* factor,
                         size_t factors, T* y) {
  const hn::ScalableTag<Computed<T>> d;
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const Computed<T> f = factor[r % factors];
    WriteEach(d, width, y, [=](auto dk, size_t k) SEXTANT_INLINE {
      return hn::Mul(Read(dk, x + k), hn::Set(dk, f));
    });
  }
}

void ScaleElements(DType dtype, size_t rows, size_t width, UntypedInput x, UntypedInput factor,
                   size_t factors, UntypedOutput y) {
  WithElement(dtype, [=]<class T>() HWY_ATTR { ScaleAll<T>(rows, width, x, factor, factors, y); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ScaleElements);

template <Element T>
void ScaleRows(size_t rows, size_t width, const T* x, std::span<const Computed<T>> factor,
               T* y) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleElements)
  (kDType<T>, rows, width, x, factor.data(), factor.size(), y);
}

template void ScaleRows(size_t, size_t, const double*, std::span<const double>, double*) noexcept;
template void ScaleRows(size_t, size_t, const float*, std::span<const float>, float*) noexcept;
template void ScaleRows(size_t, size_t, const F16*, std::span<const float>, F16*) noexcept;
template void ScaleRows(size_t, size_t, const BF16*, std::span<const float>, BF16*) noexcept;

Tensors ScaleByPosition(DType dtype, const Tensor<double>& x,
                        const std::vector<DoubleDouble>& factor) {
  return WithElement(dtype, [&]<class T>() -> Tensors {
    std::vector<Computed<T>> rounded;
    for (const DoubleDouble& f : factor) rounded.push_back(FromDoubleDouble<Computed<T>>(f));
    const std::vector<T> from = ToElements<T>(x);
    std::vector<T> to(from.size());
    const size_t rows = x.shape[0] * x.shape[1] * x.shape[2];
    ScaleRows<T>(rows, x.shape[3], from.data(), rounded, to.data());
    return {ToTensor("y", x.shape, to)};
  });
}

}  // namespace sextant::fast
#endif
