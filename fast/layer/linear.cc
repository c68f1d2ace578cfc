#include "fast/layer/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/linear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <memory>

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

// Rows of y are y_row elements apart.
template <class T, class C = Computed<T>>
HWY_INLINE void ApplyAll(const ProductShape& shape, const T* x, const T* weight, const T* bias,
                         T* y, size_t y_row, C* scratch) {
  const auto K = static_cast<ptrdiff_t>(shape.K);
  for (size_t n0 = 0; n0 < shape.N; n0 += kLinearRows) {
    for (size_t f0 = 0; f0 < shape.F; f0 += kLinearColumns) {
      const ProductShape part{std::min(kLinearRows, shape.N - n0),
                              std::min(kLinearColumns, shape.F - f0), shape.K};
      T* to = y + n0 * y_row + f0;
      C* sums = scratch + kProductScratch;
      ptrdiff_t row = static_cast<ptrdiff_t>(part.F);
      if constexpr (std::same_as<T, C>) {
        sums = to;
        row = static_cast<ptrdiff_t>(y_row);
      }
      Multiply<T, T>(part, {x + n0 * shape.K, K}, {weight + f0 * shape.K, K}, sums, row, scratch);
      if (std::same_as<T, C> && !bias) continue;
      for (size_t n = 0; n < part.N; ++n, sums += row, to += y_row) {
        FinishRow<T>(sums, bias ? bias + f0 : nullptr, to, part.F);
      }
    }
  }
}

void LinearElements(DType dtype, const ProductShape& shape, UntypedInput x, UntypedInput weight,
                    UntypedInput bias, UntypedOutput y, size_t y_row, UntypedOutput scratch) {
  WithElement(dtype, [=, &shape]<class T>() HWY_ATTR {
    ApplyAll<T, Computed<T>>(shape, x, weight, bias, y, y_row, scratch);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(LinearElements);

// Each part packs the other operand again, so the longer side is divided.
template <Element T>
void ApplyLinear(const ProductShape& shape, const T* x, const T* weight, const T* bias, T* y) {
  const auto apply = [&](const ProductShape& part, size_t n0, size_t f0) {
    const size_t sums = std::min(kLinearRows, part.N) * std::min(kLinearColumns, part.F);
    const auto scratch = std::make_unique_for_overwrite<Computed<T>[]>(kProductScratch + sums);
    HWY_DYNAMIC_DISPATCH(LinearElements)
    (kDType<T>, part, x + n0 * shape.K, weight + f0 * shape.K, bias ? bias + f0 : nullptr,
     y + n0 * shape.F + f0, shape.F, scratch.get());
  };
  constexpr size_t kUnit = 96;  // whole tiles on every target
  const bool by_columns = shape.F >= shape.N;
  const size_t all = by_columns ? shape.F : shape.N, other = by_columns ? shape.N : shape.F;
  const auto apply_part = [&](size_t first, size_t count) {
    if (by_columns) apply({shape.N, count, shape.K}, 0, first);
    if (!by_columns) apply({count, shape.F, shape.K}, first, 0);
  };
  InRowParts(all, other * shape.K / kProductsPerElement, apply_part, kUnit);
}

template void ApplyLinear(const ProductShape&, const double*, const double*, const double*,
                          double*);
template void ApplyLinear(const ProductShape&, const float*, const float*, const float*, float*);
template void ApplyLinear(const ProductShape&, const F16*, const F16*, const F16*, F16*);
template void ApplyLinear(const ProductShape&, const BF16*, const BF16*, const BF16*, BF16*);

namespace {

StoredTensors RunLinear(const Case& c, const StoredTensors& inputs) {
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    ApplyLinear({ExtentOf(c, "N"), ExtentOf(c, "F"), ExtentOf(c, "M")}, inputs[0].As<T>(),
                inputs[1].As<T>(), Elements<T>(inputs, "bias").data(), y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Linear>() {
  return {DeclinesMixedTypes, RunLinear};
}

}  // namespace sextant::fast
#endif
