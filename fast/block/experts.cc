#include "fast/block/experts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/block/experts.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <vector>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_m = x_m factor
template <class T>
HWY_INLINE void Scaled(const T* x, Computed<T> factor, T* y, size_t count) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, count, y, [&](auto dm, size_t m) SEXTANT_INLINE {
    return hn::Mul(Read(dm, x + m), hn::Set(dm, factor));
  });
}

// y_m = sum_k x[k,m] factors_k, for K rows of x
template <class T>
HWY_INLINE void AddRows(const T* x, const Computed<T>* factors, size_t K, T* y, size_t count) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, count, y, [&](auto dm, size_t m) SEXTANT_INLINE {
    auto sum = hn::Zero(dm);
    for (size_t k = 0; k < K; ++k) {
      const auto out = Read(dm, x + k * count + m);
      sum = factors ? hn::MulAdd(out, hn::Set(dm, factors[k]), sum) : hn::Add(out, sum);
    }
    return sum;
  });
}

void ScaledElements(DType dtype, UntypedInput x, double factor, UntypedOutput y, size_t count) {
  WithElement(
      dtype, [=]<class T>() HWY_ATTR { Scaled<T>(x, static_cast<Computed<T>>(factor), y, count); });
}

void AddRowsElements(DType dtype, UntypedInput x, UntypedInput factors, size_t K, UntypedOutput y,
                     size_t count) {
  WithElement(dtype, [=]<class T>() HWY_ATTR { AddRows<T>(x, factors, K, y, count); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ScaledElements);
HWY_EXPORT(AddRowsElements);

template <Element T>
void ApplyExperts(GateKind kind, Weighs weigh, const ExpertsRows<T>& rows) {
  const auto& [N, K, M, F, x, indices, weights, gate, up, down, y, hidden] = rows;
  const bool of_input = weigh == Weighs::kInput;
  InRowParts(N, 3 * K * M * F / kProductsPerElement, [&](size_t first_row, size_t count) {
    std::vector<T> scaled(M), other(F), out(K * M);
    for (size_t n = first_row; n < first_row + count; ++n) {
      for (size_t k = 0; k < K; ++k) {
        const size_t slot = n * K + k, first = static_cast<size_t>(indices[slot]) * F * M;
        const T* row = x + n * M;
        if (of_input) {
          HWY_DYNAMIC_DISPATCH(ScaledElements)
          (kDType<T>, row, static_cast<double>(weights[slot]), scaled.data(), M);
          row = scaled.data();
        }
        ApplyFeedForward<T>(kind,
                            {1, M, F, row, out.data() + k * M, hidden + slot * F, other.data()},
                            {gate + first, up + first, down + first});
      }
      HWY_DYNAMIC_DISPATCH(AddRowsElements)
      (kDType<T>, out.data(), of_input ? nullptr : weights + n * K, K, y + n * M, M);
    }
  });
}

template void ApplyExperts(GateKind, Weighs, const ExpertsRows<double>&);
template void ApplyExperts(GateKind, Weighs, const ExpertsRows<float>&);
template void ApplyExperts(GateKind, Weighs, const ExpertsRows<F16>&);
template void ApplyExperts(GateKind, Weighs, const ExpertsRows<BF16>&);

namespace {

StoredTensors RunExperts(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Experts>(c);
  const size_t N = ExtentOf(c, "N"), K = ExtentOf(c, "K"), M = ExtentOf(c, "M"),
               F = ExtentOf(c, "F");
  const Tensor<double> chosen = ValuesOf(inputs[1]);
  std::vector<int64_t> indices;
  for (size_t slot = 0; slot < N * K; ++slot)
    indices.push_back(static_cast<int64_t>(ExpertAt(chosen, slot, ExtentOf(c, "E"))));
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    ApplyExperts<T>(op.kind, op.weigh,
                    {N, K, M, F, inputs[0].As<T>(), indices.data(), inputs[2].As<Computed<T>>(),
                     inputs[3].As<T>(), inputs[4].As<T>(), inputs[5].As<T>(), outputs[0].As<T>(),
                     outputs[1].As<T>()});
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<Experts>() {
  return {DeclinesMixedTypes, RunExperts};
}

}  // namespace sextant::fast
#endif
