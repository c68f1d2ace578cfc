#include "reference/attention/soft_cap.h"

#include "fast/attention/soft_cap.h"
#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/soft_cap.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void CapAll(double cap, const T* x, T* y, size_t count, bool stream) {
  using C = Computed<T>;
  const auto each = [=](auto, auto d, auto v) SEXTANT_INLINE {
    const auto c = hn::Set(d, static_cast<C>(cap)), inverse = hn::Set(d, 1 / static_cast<C>(cap));
    return hn::Mul(c, TanhOf(d, hn::Mul(v, inverse)));
  };
  FillRow(count, stream, Unbounded(), each, y, x);
}

void CapF64(double c, const double* x, double* y, size_t n, bool s) { CapAll(c, x, y, n, s); }
void CapF32(double c, const float* x, float* y, size_t n, bool s) { CapAll(c, x, y, n, s); }
void CapF16(double c, const F16* x, F16* y, size_t n, bool s) { CapAll(c, x, y, n, s); }
void CapBF16(double c, const BF16* x, BF16* y, size_t n, bool s) { CapAll(c, x, y, n, s); }

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(CapF64);
HWY_EXPORT(CapF32);
HWY_EXPORT(CapF16);
HWY_EXPORT(CapBF16);

template <Element T>
void CapSoftly(double cap, const T* x, T* y, size_t count) noexcept {
  const bool stream = x != y && ShouldStream(2 * count * sizeof(T));
  if constexpr (std::same_as<T, double>) {
    HWY_DYNAMIC_DISPATCH(CapF64)(cap, x, y, count, stream);
  } else if constexpr (std::same_as<T, float>) {
    HWY_DYNAMIC_DISPATCH(CapF32)(cap, x, y, count, stream);
  } else if constexpr (std::same_as<T, F16>) {
    HWY_DYNAMIC_DISPATCH(CapF16)(cap, x, y, count, stream);
  } else {
    HWY_DYNAMIC_DISPATCH(CapBF16)(cap, x, y, count, stream);
  }
  if (stream) StreamFence();
}

template void CapSoftly(double, const double*, double*, size_t) noexcept;
template void CapSoftly(double, const float*, float*, size_t) noexcept;
template void CapSoftly(double, const F16*, F16*, size_t) noexcept;
template void CapSoftly(double, const BF16*, BF16*, size_t) noexcept;

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<SoftCap>(c);
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const std::vector<T> x = ToElements<T>(inputs[0].values);
    std::vector<T> y(x.size());
    CapSoftly(op.cap, x.data(), y.data(), x.size());
    return {ToTensor("y", inputs[0].values.shape, y)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<SoftCap>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
#endif
