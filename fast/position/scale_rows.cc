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

// Rows first .. first + count - 1.
template <class T>
HWY_INLINE void ScaleAll(size_t first, size_t count, size_t width, const T* x,
                         const Computed<T>* factor, size_t factors, T* y) {
  const hn::ScalableTag<Computed<T>> d;
  for (size_t r = first; r < first + count; ++r) {
    const Computed<T> f = factor[r % factors];
    const T* const from = x + r * width;
    WriteEach(d, width, y + r * width, [=](auto dk, size_t k) SEXTANT_INLINE {
      return hn::Mul(Read(dk, from + k), hn::Set(dk, f));
    });
  }
}

void ScaleElements(DType dtype, size_t first, size_t count, size_t width, UntypedInput x,
                   UntypedInput factor, size_t factors, UntypedOutput y) {
  WithElement(dtype,
              [=]<class T>() HWY_ATTR { ScaleAll<T>(first, count, width, x, factor, factors, y); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ScaleElements);

template <Element T>
void ScaleRows(size_t rows, size_t width, const T* x, std::span<const Computed<T>> factor, T* y) {
  InRowParts(rows, width, [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(ScaleElements)
    (kDType<T>, first, count, width, x, factor.data(), factor.size(), y);
  });
}

template void ScaleRows(size_t, size_t, const double*, std::span<const double>, double*);
template void ScaleRows(size_t, size_t, const float*, std::span<const float>, float*);
template void ScaleRows(size_t, size_t, const F16*, std::span<const float>, F16*);
template void ScaleRows(size_t, size_t, const BF16*, std::span<const float>, BF16*);

StoredTensors ScaleByPosition(const StoredTensor& x, const std::vector<DoubleDouble>& factor) {
  StoredTensors y;
  y.emplace_back("y", x.dtype(), x.shape());
  WithElement(x.dtype(), [&]<class T>() {
    std::vector<Computed<T>> rounded;
    for (const DoubleDouble& f : factor) rounded.push_back(FromDoubleDouble<Computed<T>>(f));
    const Shape& shape = x.shape();
    ScaleRows<T>(shape[0] * shape[1] * shape[2], shape[3], x.As<T>(), rounded, y[0].As<T>());
  });
  return y;
}

}  // namespace sextant::fast
#endif
