#include "fast/layer/add.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/add.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void AddAll(size_t count, const T* a, const T* b, const T* c, T* y) {
  const hn::ScalableTag<Computed<T>> d;
  ForEachVector(d, count, [=](auto dk, size_t k) SEXTANT_INLINE {
    auto sum = Read(dk, b + k);
    if (c) sum = hn::Add(sum, Read(dk, c + k));
    Write(dk, hn::Add(Read(dk, a + k), sum), y + k);
  });
}

void AddF64(size_t n, const double* a, const double* b, const double* c, double* y) {
  AddAll(n, a, b, c, y);
}
void AddF32(size_t n, const float* a, const float* b, const float* c, float* y) {
  AddAll(n, a, b, c, y);
}
void AddF16(size_t n, const F16* a, const F16* b, const F16* c, F16* y) { AddAll(n, a, b, c, y); }
void AddBF16(size_t n, const BF16* a, const BF16* b, const BF16* c, BF16* y) {
  AddAll(n, a, b, c, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(AddF64);
HWY_EXPORT(AddF32);
HWY_EXPORT(AddF16);
HWY_EXPORT(AddBF16);

template <Element T>
void Add(size_t count, const T* a, const T* b, const T* c, T* y) noexcept {
  if constexpr (std::same_as<T, double>) {
    HWY_DYNAMIC_DISPATCH(AddF64)(count, a, b, c, y);
  } else if constexpr (std::same_as<T, float>) {
    HWY_DYNAMIC_DISPATCH(AddF32)(count, a, b, c, y);
  } else if constexpr (std::same_as<T, F16>) {
    HWY_DYNAMIC_DISPATCH(AddF16)(count, a, b, c, y);
  } else {
    HWY_DYNAMIC_DISPATCH(AddBF16)(count, a, b, c, y);
  }
}

template void Add(size_t, const double*, const double*, const double*, double*) noexcept;
template void Add(size_t, const float*, const float*, const float*, float*) noexcept;
template void Add(size_t, const F16*, const F16*, const F16*, F16*) noexcept;
template void Add(size_t, const BF16*, const BF16*, const BF16*, BF16*) noexcept;

}  // namespace sextant::fast
#endif
