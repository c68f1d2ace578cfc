#include "fast/layer/linear_scaled.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/linear_scaled.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/matmul-inl.h"
#include "reference/layer/linear_scaled.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// total_f += sums_f factors_f
template <class C>
HWY_INLINE void AddScaled(const C* sums, const C* factors, C* total, size_t count) {
  const hn::ScalableTag<C> d;
  ForEachVector(d, count, [&](auto df, size_t f) SEXTANT_INLINE {
    const auto term =
        hn::MulAdd(hn::LoadU(df, sums + f), hn::LoadU(df, factors + f), hn::LoadU(df, total + f));
    hn::StoreU(term, df, total + f);
  });
}

// y_f = total_f + bias_f
template <class T, class C = Computed<T>>
HWY_INLINE void FinishScaledRow(const C* total, const T* bias, T* y, size_t count) {
  const hn::ScalableTag<C> d;
  WriteEach(d, count, y, [&](auto df, size_t f) SEXTANT_INLINE {
    const auto sum = hn::LoadU(df, total + f);
    return bias ? hn::Add(sum, Read(df, bias + f)) : sum;
  });
}

template <class T, class C = Computed<T>>
HWY_INLINE void ApplyScaled(const ScaledShape& shape, const C* x, const C* weight,
                            const Scales<C>& scales, const T* bias, T* y, C* scratch) {
  const size_t rows = shape.rows(), columns = shape.columns(), G = shape.G, M = shape.M;
  const auto width = static_cast<ptrdiff_t>(G * M);
  C *const total = scratch + kProductScratch, *const sums = total + rows * columns,
           *const factors = sums + rows * columns;
  std::fill_n(total, rows * columns, C{0});
  for (size_t g = 0; g < G; ++g) {
    Multiply<C, C>({rows, columns, M}, {x + g * M, width}, {weight + g * M, width}, sums,
                   static_cast<ptrdiff_t>(columns), scratch);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t f = 0; row % shape.B == 0 && f < shape.F; ++f) {
        const C of_x = scales.x ? scales.x[row / shape.B * G + g] : C{1};
        std::fill_n(factors + f * shape.A, shape.A, of_x * scales.weight[f * G + g]);
      }
      AddScaled(sums + row * columns, factors, total + row * columns, columns);
    }
  }
  for (size_t row = 0; row < rows; ++row)
    FinishScaledRow<T>(total + row * columns, bias, y + row * columns, columns);
}

void LinearScaledElements(DType dtype, const ScaledShape& shape, UntypedInput x,
                          UntypedInput weight, UntypedInput x_scale, UntypedInput weight_scale,
                          UntypedInput bias, UntypedOutput y, UntypedOutput scratch) {
  WithElement(dtype, [=, &shape]<class T>() HWY_ATTR {
    using C = Computed<T>;
    const Scales<C> scales{x_scale, weight_scale};
    ApplyScaled<T, C>(shape, x, weight, scales, bias, y, scratch);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(LinearScaledElements);

template <Element T>
void ApplyLinearScaled(const ScaledShape& shape, const Computed<T>* x, const Computed<T>* weight,
                       const Scales<Computed<T>>& scales, const T* bias, T* y,
                       Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(LinearScaledElements)
  (kDType<T>, shape, x, weight, scales.x, scales.weight, bias, y, scratch);
}

template void ApplyLinearScaled(const ScaledShape&, const double*, const double*,
                                const Scales<double>&, const double*, double*, double*) noexcept;
template void ApplyLinearScaled(const ScaledShape&, const float*, const float*,
                                const Scales<float>&, const float*, float*, float*) noexcept;
template void ApplyLinearScaled(const ScaledShape&, const float*, const float*,
                                const Scales<float>&, const F16*, F16*, float*) noexcept;
template void ApplyLinearScaled(const ScaledShape&, const float*, const float*,
                                const Scales<float>&, const BF16*, BF16*, float*) noexcept;

namespace {

StoredTensors RunLinearScaled(const Case& c, const StoredTensors& inputs) {
  const ScaledShape shape{ExtentOf(c, "N"), ExtentOf(c, "B"), ExtentOf(c, "G"),
                          ExtentOf(c, "M"), ExtentOf(c, "F"), ExtentOf(c, "A")};
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    using C = Computed<T>;
    // Exact: both are small integers. A row of blocks has `block` numbers.
    const auto shifted = [&](const char* name, const char* zero_name, size_t block) {
      const Elements<C> all(inputs, name), zero(inputs, zero_name);
      std::vector<C> codes(all.data(), all.data() + all.size());
      for (size_t i = 0; zero.data() && i < codes.size(); ++i)
        codes[i] -= zero.data()[i / (block * shape.G * shape.M) * shape.G + i / shape.M % shape.G];
      return codes;
    };
    const auto x = shifted("x", "x_zero", shape.B),
               weight = shifted("weight", "weight_zero", shape.A);
    const Elements<C> x_scale(inputs, "x_scale"), weight_scale(inputs, "weight_scale");
    const Elements<T> bias(inputs, "bias");
    const size_t products = shape.B * shape.columns() * shape.G * shape.M;
    InRowParts(shape.N, products / kProductsPerElement, [&](size_t first, size_t count) {
      ScaledShape part = shape;
      part.N = count;
      std::vector<C> scratch(part.scratch());
      const Scales<C> scales{x_scale.data() ? x_scale.data() + first * shape.G : nullptr,
                             weight_scale.data()};
      ApplyLinearScaled(part, x.data() + first * shape.B * shape.G * shape.M, weight.data(), scales,
                        bias.data(), y[0].As<T>() + first * shape.B * shape.columns(),
                        scratch.data());
    });
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<LinearScaled>() {
  return {DeclinesMixedTypes, RunLinearScaled};
}

}  // namespace sextant::fast
#endif
