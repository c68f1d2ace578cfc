#include "fast/layer/add_rms_norm.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/add_rms_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/rms_norm-inl.h"
#include "reference/layer/add_rms_norm.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// x + residual, rounded to T. Rounding to f32 first does not change the result: with p bits in the
// 16-bit type, 24 >= 2 p + 2 (Figueroa 1995, "When is double rounding innocuous?").
template <class T, class D>
HWY_INLINE hn::VFromD<D> Sum(D d, const T* x, const T* residual) {
  const auto sum = hn::Add(Read(d, x), Read(d, residual));
  if constexpr (Narrow<T>) {
    return Widen<T>(d, RoundTo16<T>(d, sum));
  } else {
    return sum;
  }
}

// sum_k = x_k + residual_k
template <class T>
HWY_INLINE void AddRow(const T* x, const T* residual, T* sum, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, n, sum, [=](auto dk, size_t k) SEXTANT_INLINE {
    return hn::Add(Read(dk, x + k), Read(dk, residual + k));
  });
}
template <class T, class C = Computed<T>>
HWY_INLINE C FactorOf(const AddedRows& rows, C squares) {
  return 1 / std::sqrt(squares / static_cast<C>(rows.M) + static_cast<C>(rows.eps));
}

template <class T, class C = Computed<T>>
HWY_INLINE void NormalizeRow(const AddedRows& rows, const T* x, const T* residual, const C* weight,
                             AddedOutputs<T> out) {
  AddRow(x, residual, out.sum, rows.M);
  const C squares = SumOfSquares(out.sum, rows.M);
  ScaleByWeights(out.sum, FactorOf<T>(rows, squares), weight, rows.unit_offset, out.y, rows.M);
}

// Both outputs go through small buffers, so the sums are computed twice.
template <class T, class C = Computed<T>>
HWY_INLINE void StreamRow(const AddedRows& rows, const T* x, const T* residual, const C* weight,
                          AddedOutputs<T> out) {
  const size_t M = rows.M;
  const C squares = RowSum<C>(M, [x, residual](auto d, size_t k, auto s) SEXTANT_INLINE {
    const auto sum = Sum(d, x + k, residual + k);
    return hn::MulAdd(sum, sum, s);
  });
  constexpr size_t kStep = kStreamBuffer / 2 / sizeof(T);
  alignas(64) T y[kStep], sum[kStep];
  for (size_t k = 0; k < M; k += kStep) {
    const size_t n = std::min(kStep, M - k);
    AddRow(x + k, residual + k, sum, n);
    ScaleByWeights(sum, FactorOf<T>(rows, squares), weight + k, rows.unit_offset, y, n);
    StreamCopy(y, out.y + k, n * sizeof(T), x + M + k);
    StreamCopy(sum, out.sum + k, n * sizeof(T), residual + M + k);
  }
}

template <class T>
HWY_INLINE void NormalizeAll(const AddedRows& rows, const T* x, const T* residual,
                             const Computed<T>* weight, AddedOutputs<T> out, bool stream) {
  for (size_t n = 0; n < rows.N; ++n) {
    const size_t at = n * rows.M;
    const AddedOutputs<T> row{out.y + at, out.sum + at};
    if (stream) StreamRow(rows, x + at, residual + at, weight, row);
    if (!stream) NormalizeRow(rows, x + at, residual + at, weight, row);
  }
}

void AddAndNormalizeElements(DType dtype, const AddedRows& rows, UntypedInput x,
                             UntypedInput residual, UntypedInput weight, UntypedOutput y,
                             UntypedOutput sum, bool stream) {
  WithElement(dtype, [=, &rows]<class T>() HWY_ATTR {
    NormalizeAll<T>(rows, x, residual, weight, {y, sum}, stream);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(AddAndNormalizeElements);

template <Element T>
void AddAndNormalizeRows(const AddedRows& rows, const T* x, const T* residual,
                         const Computed<T>* weight, AddedOutputs<T> out) {
  const auto is_input = [=](const T* p) { return p == x || p == residual; };
  const bool apart = !is_input(out.y) && !is_input(out.sum);
  const bool stream = apart && ShouldStream(4 * rows.N * rows.M * sizeof(T));
  InRowParts(rows.N, 2 * rows.M, [&](size_t first, size_t count) {
    const size_t at = first * rows.M;
    AddedRows part = rows;
    part.N = count;
    HWY_DYNAMIC_DISPATCH(AddAndNormalizeElements)
    (kDType<T>, part, x + at, residual + at, weight, out.y + at, out.sum + at, stream);
    if (stream) StreamFence();
  });
}

template void AddAndNormalizeRows(const AddedRows&, const double*, const double*, const double*,
                                  AddedOutputs<double>);
template void AddAndNormalizeRows(const AddedRows&, const float*, const float*, const float*,
                                  AddedOutputs<float>);
template void AddAndNormalizeRows(const AddedRows&, const F16*, const F16*, const float*,
                                  AddedOutputs<F16>);
template void AddAndNormalizeRows(const AddedRows&, const BF16*, const BF16*, const float*,
                                  AddedOutputs<BF16>);

namespace {

StoredTensors RunAddRmsNorm(const Case& c, const StoredTensors& inputs) {
  const AddRmsNorm op = StructOf<AddRmsNorm>(c);
  const AddedRows rows{ExtentOf(c, "N"), ExtentOf(c, "M"), op.eps, op.unit_offset};
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    AddAndNormalizeRows(rows, inputs[0].As<T>(), inputs[1].As<T>(), inputs[2].As<Computed<T>>(),
                        AddedOutputs<T>{outputs[0].As<T>(), outputs[1].As<T>()});
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<AddRmsNorm>() {
  return {DeclinesMixedTypes, RunAddRmsNorm};
}

}  // namespace sextant::fast
#endif
