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

void CapElements(DType dtype, double cap, UntypedInput x, UntypedOutput y, size_t count,
                 bool stream) {
  WithElement(dtype, [=]<class T>() HWY_ATTR { CapAll<T>(cap, x, y, count, stream); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(CapElements);

template <Element T>
void ApplySoftCap(double cap, const T* x, T* y, size_t count) {
  const bool stream = x != y && ShouldStream(2 * count * sizeof(T));
  InElementParts(count, [&](size_t first, size_t part) {
    HWY_DYNAMIC_DISPATCH(CapElements)(kDType<T>, cap, x + first, y + first, part, stream);
    if (stream) StreamFence();
  });
}

template void ApplySoftCap(double, const double*, double*, size_t);
template void ApplySoftCap(double, const float*, float*, size_t);
template void ApplySoftCap(double, const F16*, F16*, size_t);
template void ApplySoftCap(double, const BF16*, BF16*, size_t);

namespace {

StoredTensors RunSoftCap(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<SoftCap>(c);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    ApplySoftCap(op.cap, inputs[0].As<T>(), y[0].As<T>(), CountOf(y[0].shape()));
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<SoftCap>() {
  return {DeclinesMixedTypes, RunSoftCap};
}

}  // namespace sextant::fast
#endif
