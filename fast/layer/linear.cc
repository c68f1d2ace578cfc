#include "fast/layer/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/linear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/matmul-inl.h"
#include "reference/layer/linear.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_f = sum_f + bias_f for one row; y may be the sums.
template <class T, class C = Computed<T>>
HWY_INLINE void FinishRow(const C* sums, const T* bias, T* y, size_t F) {
  const hn::ScalableTag<C> d;
  WriteEach(d, F, y, [&](auto df, size_t f) SEXTANT_INLINE {
    const auto sum = hn::LoadU(df, sums + f);
    return bias ? hn::Add(sum, Read(df, bias + f)) : sum;
  });
}

template <class T, class C = Computed<T>>
HWY_INLINE void ApplyAll(const ProductShape& shape, const T* x, const T* weight, const T* bias,
                         T* y, C* scratch) {
  const auto K = static_cast<ptrdiff_t>(shape.K), F = static_cast<ptrdiff_t>(shape.F);
  for (size_t n0 = 0; n0 < shape.N; n0 += kLinearRows) {
    for (size_t f0 = 0; f0 < shape.F; f0 += kLinearColumns) {
      const ProductShape part{std::min(kLinearRows, shape.N - n0),
                              std::min(kLinearColumns, shape.F - f0), shape.K};
      T* to = y + n0 * shape.F + f0;
      C* sums = scratch + kProductScratch;
      ptrdiff_t row = static_cast<ptrdiff_t>(part.F);
      if constexpr (std::same_as<T, C>) {
        sums = to;
        row = F;
      }
      Multiply<T, T>(part, {x + n0 * shape.K, K}, {weight + f0 * shape.K, K}, sums, row, scratch);
      if (std::same_as<T, C> && !bias) continue;
      for (size_t n = 0; n < part.N; ++n, sums += row, to += F) {
        FinishRow<T>(sums, bias ? bias + f0 : nullptr, to, part.F);
      }
    }
  }
}

void LinearElements(DType dtype, const ProductShape& shape, UntypedInput x, UntypedInput weight,
                    UntypedInput bias, UntypedOutput y, UntypedOutput scratch) {
  WithElement(dtype, [=, &shape]<class T>() HWY_ATTR {
    ApplyAll<T, Computed<T>>(shape, x, weight, bias, y, scratch);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(LinearElements);

template <Element T>
void ApplyLinear(const ProductShape& shape, const T* x, const T* weight, const T* bias, T* y,
                 Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(LinearElements)(kDType<T>, shape, x, weight, bias, y, scratch);
}

template void ApplyLinear(const ProductShape&, const double*, const double*, const double*, double*,
                          double*) noexcept;
template void ApplyLinear(const ProductShape&, const float*, const float*, const float*, float*,
                          float*) noexcept;
template void ApplyLinear(const ProductShape&, const F16*, const F16*, const F16*, F16*,
                          float*) noexcept;
template void ApplyLinear(const ProductShape&, const BF16*, const BF16*, const BF16*, BF16*,
                          float*) noexcept;

namespace {

Tensors RunLinear(const Case& c, const Tensors& inputs) {
  const ProductShape shape{ExtentOf(c, "N"), ExtentOf(c, "F"), ExtentOf(c, "M")};
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const auto x = ToElements<T>(inputs[0].values), weight = ToElements<T>(inputs[1].values);
    const Tensor<double>* const given = FindValues(inputs, "bias");
    const auto bias = given ? ToElements<T>(*given) : std::vector<T>();
    std::vector<T> y(shape.N * shape.F);
    std::vector<Computed<T>> scratch(kLinearScratch);
    ApplyLinear(shape, x.data(), weight.data(), given ? bias.data() : nullptr, y.data(),
                scratch.data());
    return {ToTensor("y", {shape.N, shape.F}, y)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<Linear>() {
  return {DeclinesMixedTypes, RunLinear};
}

}  // namespace sextant::fast
#endif
