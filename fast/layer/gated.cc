#include "reference/layer/gated.h"

#include "fast/layer/gated.h"
#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/gated.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// `plain`: no limit, no offset, beta = 1. Not inlined: g++ takes many times as long for one
// function of all kinds and types (with sanitizers nine minutes).
template <ActivationKind kind, bool plain, class T>
HWY_NOINLINE void GateRowAs(const GateRows& rows, const T* gate, const T* up, T* y, bool stream) {
  using C = Computed<T>;
  const auto beta = static_cast<C>(rows.beta), limit = static_cast<C>(rows.limit);
  const C offset = rows.plus_one ? 1 : 0;
  const auto each = [=](auto near, auto d, auto g, auto u) SEXTANT_INLINE {
    if constexpr (!plain) {
      const auto most = hn::Set(d, limit);
      g = AtMost(d, most, g);
      u = hn::Add(AtLeast(d, hn::Neg(most), AtMost(d, most, u)), hn::Set(d, offset));
    }
    return hn::Mul(ActivationOf<kind, near.value, plain>(d, g, hn::Set(d, beta)), u);
  };
  FillRow(rows.F, stream, LeastNear<kind>(beta), each, y, gate, up);
}

template <ActivationKind kind, class T>
HWY_INLINE void GateAs(const GateRows& rows, const T* gate, const T* up, T* y, bool stream) {
  const bool plain = std::isinf(rows.limit) && !rows.plus_one && rows.beta == 1;
  for (size_t n = 0; n < rows.N; ++n) {
    if (plain) GateRowAs<kind, true>(rows, gate, up, y, stream);
    if (!plain) GateRowAs<kind, false>(rows, gate, up, y, stream);
    gate += rows.gate_row;
    up += rows.up_row;
    y += rows.y_row;
  }
}

template <class T>
HWY_INLINE void GateAll(const GateRows& rows, const T* gate, const T* up, T* y, bool s) {
  switch (rows.kind) {
    case GateKind::kSwiglu:
      return GateAs<ActivationOf(GateKind::kSwiglu)>(rows, gate, up, y, s);
    case GateKind::kGlu:
      return GateAs<ActivationOf(GateKind::kGlu)>(rows, gate, up, y, s);
    case GateKind::kGeglu:
      return GateAs<ActivationOf(GateKind::kGeglu)>(rows, gate, up, y, s);
    case GateKind::kGegluTanh:
      return GateAs<ActivationOf(GateKind::kGegluTanh)>(rows, gate, up, y, s);
    case GateKind::kReglu:
      return GateAs<ActivationOf(GateKind::kReglu)>(rows, gate, up, y, s);
  }
}

void GateElements(DType dtype, const GateRows& rows, UntypedInput gate, UntypedInput up,
                  UntypedOutput y, bool stream) {
  WithElement(dtype, [=, &rows]<class T>() HWY_ATTR { GateAll<T>(rows, gate, up, y, stream); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(GateElements);

template <Element T>
void Gate(const GateRows& rows, const T* gate, const T* up, T* y) {
  const bool stream = y != gate && y != up && ShouldStream(3 * rows.N * rows.F * sizeof(T));
  InRowParts(rows.N, rows.F, [&](size_t first, size_t count) {
    const auto n = static_cast<ptrdiff_t>(first);
    GateRows part = rows;
    part.N = count;
    HWY_DYNAMIC_DISPATCH(GateElements)
    (kDType<T>, part, gate + n * rows.gate_row, up + n * rows.up_row, y + n * rows.y_row, stream);
    if (stream) StreamFence();
  });
}

template void Gate(const GateRows&, const double*, const double*, double*);
template void Gate(const GateRows&, const float*, const float*, float*);
template void Gate(const GateRows&, const F16*, const F16*, F16*);
template void Gate(const GateRows&, const BF16*, const BF16*, BF16*);

namespace {

StoredTensors RunGated(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Gated>(c);
  const size_t N = ExtentOf(c, "N"), F = ExtentOf(c, "F");
  const auto row = static_cast<ptrdiff_t>(F);
  GateRows rows{N, F, row, row, row, op.kind, op.Beta()};
  rows.plus_one = op.plus_one;
  if (op.limit) rows.limit = *op.limit;
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(),
              [&]<class T>() { Gate(rows, inputs[0].As<T>(), inputs[1].As<T>(), y[0].As<T>()); });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Gated>() {
  return {DeclinesMixedTypes, RunGated};
}

}  // namespace sextant::fast
#endif
