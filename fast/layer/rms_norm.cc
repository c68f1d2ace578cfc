#include "fast/layer/rms_norm.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/rms_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/rms_norm-inl.h"
#include "reference/layer/rms_norm.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void NormalizeRow(const Rows& rows, const T* x, const Computed<T>* weight, T* y,
                             bool stream) {
  using C = Computed<T>;
  const C mean = SumOfSquares(x, rows.M) / static_cast<C>(rows.M);
  const C factor = 1 / std::sqrt(mean + static_cast<C>(rows.eps));
  WriteRow(rows.M, stream, y, [&](size_t k, size_t n, T* to) SEXTANT_INLINE {
    ScaleByWeights(x + k, factor, weight + k, rows.unit_offset, to, n);
    return x + rows.x_row + k;
  });
}

template <class T>
HWY_INLINE void NormalizeAll(const Rows& rows, const T* x, const Computed<T>* weight, T* y,
                             bool stream) {
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row)
    NormalizeRow(rows, x, weight, y, stream);
}

void NormalizeElements(DType dtype, const Rows& rows, UntypedInput x, UntypedInput weight,
                       UntypedOutput y, bool stream) {
  WithElement(dtype,
              [=, &rows]<class T>() HWY_ATTR { NormalizeAll<T>(rows, x, weight, y, stream); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(NormalizeElements);

template <Element T>
void NormalizeRows(const Rows& rows, const T* x, const Computed<T>* weight, T* y) {
  const bool stream = x != y && ShouldStream(2 * rows.N * rows.M * sizeof(T));
  InRowParts(rows.N, rows.M, [&](size_t first, size_t count) {
    const auto n = static_cast<ptrdiff_t>(first);
    Rows part = rows;
    part.N = count;
    HWY_DYNAMIC_DISPATCH(NormalizeElements)
    (kDType<T>, part, x + n * rows.x_row, weight, y + n * rows.y_row, stream);
    if (stream) StreamFence();
  });
}

template void NormalizeRows(const Rows&, const double*, const double*, double*);
template void NormalizeRows(const Rows&, const float*, const float*, float*);
template void NormalizeRows(const Rows&, const F16*, const float*, F16*);
template void NormalizeRows(const Rows&, const BF16*, const float*, BF16*);

namespace {

StoredTensors RunRmsNorm(const Case& c, const StoredTensors& inputs) {
  const RmsNorm op = StructOf<RmsNorm>(c);
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const auto row = static_cast<ptrdiff_t>(M);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    NormalizeRows({N, M, row, row, op.eps, op.unit_offset}, inputs[0].As<T>(),
                  inputs[1].As<Computed<T>>(), y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<RmsNorm>() {
  return {DeclinesMixedTypes, RunRmsNorm};
}

}  // namespace sextant::fast
#endif
