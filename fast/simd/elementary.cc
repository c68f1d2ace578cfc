#include "fast/simd/elementary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/elementary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/activation-inl.h"
#include "fast/simd/any_element.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void ApplyAll(Elementary f, const T* x, T* y, size_t count) {
  const auto map = [=](const auto& function) HWY_ATTR {
    ForEachVector(hn::ScalableTag<T>(), count, [&](auto d, size_t k) HWY_ATTR {
      hn::StoreU(function(d, hn::LoadU(d, x + k)), d, y + k);
    });
  };
  switch (f) {
    case Elementary::kExp:
      return map([](auto d, auto v) HWY_ATTR { return ExpOf(d, v); });
    case Elementary::kSigmoid:
      return map([](auto d, auto v) HWY_ATTR { return TimesSigmoid(d, hn::Set(d, 1), v); });
    case Elementary::kTanh:
      return map([](auto d, auto v) HWY_ATTR { return TanhOf(d, v); });
    case Elementary::kErf:
      return map([](auto d, auto v) HWY_ATTR { return ErfOf(d, v); });
    case Elementary::kExpOfNegative:
      return map([](auto d, auto v) HWY_ATTR { return ExpOfNegative(d, v); });
  }
}

void ApplyElements(DType dtype, Elementary f, UntypedInput x, UntypedOutput y, size_t count) {
  WithReal(dtype, [=]<class T>() HWY_ATTR { ApplyAll<T>(f, x, y, count); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ApplyElements);

template <class T>
void ApplyElementary(Elementary f, const T* x, T* y, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ApplyElements)(kDType<T>, f, x, y, count);
}

template void ApplyElementary(Elementary, const float*, float*, size_t) noexcept;
template void ApplyElementary(Elementary, const double*, double*, size_t) noexcept;

}  // namespace sextant::fast
#endif
