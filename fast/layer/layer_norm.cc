#include "fast/layer/layer_norm.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"
#include "fast/simd/row_sum-inl.h"
#include "reference/layer/layer_norm.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class C>
struct Affine {
  const C *weight, *bias;
};

// y_k = ((x_k - mean) factor) weight_k + bias_k
template <class T, class C = Computed<T>>
HWY_INLINE void Apply(const T* x, C mean, C factor, Affine<C> affine, T* y, size_t n) {
  const hn::ScalableTag<C> d;
  WriteEach(d, n, y, [=](auto dk, size_t k) SEXTANT_INLINE {
    const auto centered = hn::Sub(Read(dk, x + k), hn::Set(dk, mean));
    const auto scaled = hn::Mul(centered, hn::Set(dk, factor));
    return hn::MulAdd(scaled, Read(dk, affine.weight + k), Read(dk, affine.bias + k));
  });
}

template <class T, class C = Computed<T>>
HWY_INLINE void NormalizeRow(const CenteredRows& rows, const T* x, Affine<C> affine, T* y,
                             bool stream) {
  const C width = static_cast<C>(rows.M);
  const C sum = RowSum<C>(
      rows.M, [x](auto d, size_t k, auto s) SEXTANT_INLINE { return hn::Add(s, Read(d, x + k)); });
  const C mean = sum / width;
  const C squares = RowSum<C>(rows.M, [x, mean](auto d, size_t k, auto s) SEXTANT_INLINE {
    const auto centered = hn::Sub(Read(d, x + k), hn::Set(d, mean));
    return hn::MulAdd(centered, centered, s);
  });
  const C factor = 1 / std::sqrt(squares / width + static_cast<C>(rows.eps));
  WriteRow(rows.M, stream, y, [&](size_t k, size_t n, T* to) SEXTANT_INLINE {
    Apply(x + k, mean, factor, Affine<C>{affine.weight + k, affine.bias + k}, to, n);
    return x + rows.x_row + k;
  });
}

template <class T>
HWY_INLINE void NormalizeAll(const CenteredRows& rows, const T* x, Affine<Computed<T>> affine, T* y,
                             bool stream) {
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row)
    NormalizeRow(rows, x, affine, y, stream);
}

void CenterElements(DType dtype, const CenteredRows& rows, UntypedInput x, UntypedInput weight,
                    UntypedInput bias, UntypedOutput y, bool stream) {
  WithElement(dtype, [=, &rows]<class T>() HWY_ATTR {
    NormalizeAll<T>(rows, x, {weight, bias}, y, stream);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(CenterElements);

template <Element T>
void NormalizeCentered(const CenteredRows& rows, const T* x, const Computed<T>* weight,
                       const Computed<T>* bias, T* y) {
  const bool stream = x != y && ShouldStream(2 * rows.N * rows.M * sizeof(T));
  InRowParts(rows.N, rows.M, [&](size_t first, size_t count) {
    const auto n = static_cast<ptrdiff_t>(first);
    CenteredRows part = rows;
    part.N = count;
    HWY_DYNAMIC_DISPATCH(CenterElements)
    (kDType<T>, part, x + n * rows.x_row, weight, bias, y + n * rows.y_row, stream);
    if (stream) StreamFence();
  });
}

template void NormalizeCentered(const CenteredRows&, const double*, const double*, const double*,
                                double*);
template void NormalizeCentered(const CenteredRows&, const float*, const float*, const float*,
                                float*);
template void NormalizeCentered(const CenteredRows&, const F16*, const float*, const float*, F16*);
template void NormalizeCentered(const CenteredRows&, const BF16*, const float*, const float*,
                                BF16*);

namespace {

StoredTensors RunLayerNorm(const Case& c, const StoredTensors& inputs) {
  const LayerNorm op = StructOf<LayerNorm>(c);
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const auto row = static_cast<ptrdiff_t>(M);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    NormalizeCentered({N, M, row, row, op.eps}, inputs[0].As<T>(), inputs[1].As<Computed<T>>(),
                      inputs[2].As<Computed<T>>(), y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<LayerNorm>() {
  return {DeclinesMixedTypes, RunLayerNorm};
}

}  // namespace sextant::fast
#endif
