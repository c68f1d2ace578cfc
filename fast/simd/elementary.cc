#include "fast/simd/elementary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/elementary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/activation-inl.h"

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
void ApplyF32(Elementary f, const float* x, float* y, size_t n) { ApplyAll(f, x, y, n); }
void ApplyF64(Elementary f, const double* x, double* y, size_t n) { ApplyAll(f, x, y, n); }

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ApplyF32);
HWY_EXPORT(ApplyF64);

template <>
void ApplyElementary(Elementary f, const float* x, float* y, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ApplyF32)(f, x, y, count);
}
template <>
void ApplyElementary(Elementary f, const double* x, double* y, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ApplyF64)(f, x, y, count);
}

}  // namespace sextant::fast
#endif
