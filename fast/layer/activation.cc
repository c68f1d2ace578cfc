#include "fast/layer/activation.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/activation.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Not inlined, as in gated.cc.
template <ActivationKind kind, class T>
HWY_NOINLINE void ActivateAs(double of_kind, const T* x, T* y, size_t count, bool stream) {
  const auto beta = static_cast<Computed<T>>(of_kind);
  const auto each = [=](auto near, auto d, auto v) SEXTANT_INLINE {
    return ActivationOf<kind, near.value>(d, v, hn::Set(d, beta));
  };
  FillRow(count, stream, LeastNear<kind>(beta), each, y, x);
}

template <class T>
HWY_INLINE void ActivateAll(ActivationKind kind, double beta, const T* x, T* y, size_t n, bool s) {
  using Kind = ActivationKind;
  switch (kind) {
    case Kind::kSigmoid:
      return ActivateAs<Kind::kSigmoid>(beta, x, y, n, s);
    case Kind::kSwish:
      return ActivateAs<Kind::kSwish>(beta, x, y, n, s);
    case Kind::kGelu:
      return ActivateAs<Kind::kGelu>(beta, x, y, n, s);
    case Kind::kGeluTanh:
      return ActivateAs<Kind::kGeluTanh>(beta, x, y, n, s);
    case Kind::kRelu:
      return ActivateAs<Kind::kRelu>(beta, x, y, n, s);
    case Kind::kRelu2:
      return ActivateAs<Kind::kRelu2>(beta, x, y, n, s);
    case Kind::kTanh:
      return ActivateAs<Kind::kTanh>(beta, x, y, n, s);
  }
}

void ActivateElements(DType dtype, ActivationKind kind, double beta, UntypedInput x,
                      UntypedOutput y, size_t count, bool stream) {
  WithElement(dtype, [=]<class T>() HWY_ATTR { ActivateAll<T>(kind, beta, x, y, count, stream); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ActivateElements);

template <Element T>
void Activate(ActivationKind kind, double beta, const T* x, T* y, size_t count) {
  const bool stream = x != y && ShouldStream(2 * count * sizeof(T));
  InElementParts(count, [&](size_t first, size_t part) {
    HWY_DYNAMIC_DISPATCH(ActivateElements)
    (kDType<T>, kind, beta, x + first, y + first, part, stream);
    if (stream) StreamFence();
  });
}

template void Activate(ActivationKind, double, const double*, double*, size_t);
template void Activate(ActivationKind, double, const float*, float*, size_t);
template void Activate(ActivationKind, double, const F16*, F16*, size_t);
template void Activate(ActivationKind, double, const BF16*, BF16*, size_t);

namespace {

StoredTensors RunActivation(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Activation>(c);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    Activate(op.kind, op.beta, inputs[0].As<T>(), y[0].As<T>(), CountOf(y[0].shape()));
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Activation>() {
  return {DeclinesMixedTypes, RunActivation};
}

}  // namespace sextant::fast
#endif
