#include "fast/attention/attention_merge.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/attention_merge.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"
#include "reference/attention/attention_merge.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T, class C = Computed<T>>
HWY_INLINE void MergeAll(const AttentionParts<T>& in, T* y, C* lse) {
  const hn::ScalableTag<C> d;
  for (size_t n = 0; n < in.N; ++n) {
    const C first = in.lse1[n], second = in.lse2[n], largest = std::max(first, second);
    const bool none = largest == -std::numeric_limits<C>::infinity();
    const C a = none ? 0 : std::exp(first - largest), b = none ? 0 : std::exp(second - largest);
    lse[n] = none ? largest : largest + std::log(a + b);
    const C total = none ? 1 : a + b;
    WriteEach(d, in.E, y + n * in.E, [&](auto dk, size_t k) SEXTANT_INLINE {
      const size_t at = n * in.E + k;
      auto sum = hn::Zero(dk);
      // y of a part without keys is unspecified.
      if (a != 0) sum = hn::Mul(hn::Set(dk, a / total), Read(dk, in.y1 + at));
      if (b != 0) sum = hn::MulAdd(hn::Set(dk, b / total), Read(dk, in.y2 + at), sum);
      return sum;
    });
  }
}

void MergeElements(DType dtype, const void* in, UntypedOutput y, UntypedOutput lse) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    MergeAll<T, Computed<T>>(*static_cast<const AttentionParts<T>*>(in), y, lse);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(MergeElements);

template <Element T>
void MergeParts(const AttentionParts<T>& in, T* y, Computed<T>* lse) noexcept {
  HWY_DYNAMIC_DISPATCH(MergeElements)(kDType<T>, &in, y, lse);
}

template void MergeParts(const AttentionParts<double>&, double*, double*) noexcept;
template void MergeParts(const AttentionParts<float>&, float*, float*) noexcept;
template void MergeParts(const AttentionParts<F16>&, F16*, float*) noexcept;
template void MergeParts(const AttentionParts<BF16>&, BF16*, float*) noexcept;

namespace {

Tensors RunAttentionMerge(const Case& c, const Tensors& inputs) {
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const std::vector<T> y1 = ToElements<T>(inputs[0].values), y2 = ToElements<T>(inputs[2].values);
    const auto lse1 = ToElements<Computed<T>>(inputs[1].values),
               lse2 = ToElements<Computed<T>>(inputs[3].values);
    const size_t N = ExtentOf(c, "N"), E = ExtentOf(c, "E");
    std::vector<T> y(y1.size());
    std::vector<Computed<T>> lse(N);
    MergeParts<T>({N, E, y1.data(), y2.data(), lse1.data(), lse2.data()}, y.data(), lse.data());
    return {ToTensor("y", {N, E}, y), ToTensor("lse", {N}, lse)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionMerge>() {
  return {DeclinesMixedTypes, RunAttentionMerge};
}

}  // namespace sextant::fast
#endif
