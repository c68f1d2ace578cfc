#include "fast/layer/add.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/add.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/any_element.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void AddAll(size_t count, const T* a, const T* b, const T* c, T* y) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, count, y, [=](auto dk, size_t k) SEXTANT_INLINE {
    auto sum = Read(dk, b + k);
    if (c) sum = hn::Add(sum, Read(dk, c + k));
    return hn::Add(Read(dk, a + k), sum);
  });
}

void AddElements(DType dtype, size_t count, UntypedInput a, UntypedInput b, UntypedInput c,
                 UntypedOutput y) {
  WithElement(dtype, [=]<class T>() HWY_ATTR { AddAll<T>(count, a, b, c, y); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(AddElements);

template <Element T>
void Add(size_t count, const T* a, const T* b, const T* c, T* y) {
  InElementParts(count, [&](size_t first, size_t part) {
    HWY_DYNAMIC_DISPATCH(AddElements)
    (kDType<T>, part, a + first, b + first, c ? c + first : nullptr, y + first);
  });
}

template void Add(size_t, const double*, const double*, const double*, double*);
template void Add(size_t, const float*, const float*, const float*, float*);
template void Add(size_t, const F16*, const F16*, const F16*, F16*);
template void Add(size_t, const BF16*, const BF16*, const BF16*, BF16*);

}  // namespace sextant::fast
#endif
