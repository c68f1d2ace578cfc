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
void MergeParts(const AttentionParts<T>& in, T* y, Computed<T>* lse) {
  InRowParts(in.N, in.E, [&](size_t first, size_t count) {
    const size_t at = first * in.E;
    const AttentionParts<T> part{count,           in.E,           in.y1 + at, in.y2 + at,
                                 in.lse1 + first, in.lse2 + first};
    HWY_DYNAMIC_DISPATCH(MergeElements)(kDType<T>, &part, y + at, lse + first);
  });
}

template void MergeParts(const AttentionParts<double>&, double*, double*);
template void MergeParts(const AttentionParts<float>&, float*, float*);
template void MergeParts(const AttentionParts<F16>&, F16*, float*);
template void MergeParts(const AttentionParts<BF16>&, BF16*, float*);

namespace {

StoredTensors RunAttentionMerge(const Case& c, const StoredTensors& inputs) {
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    using C = Computed<T>;
    MergeParts<T>({ExtentOf(c, "N"), ExtentOf(c, "E"), inputs[0].As<T>(), inputs[2].As<T>(),
                   inputs[1].As<C>(), inputs[3].As<C>()},
                  outputs[0].As<T>(), outputs[1].As<C>());
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionMerge>() {
  return {DeclinesMixedTypes, RunAttentionMerge};
}

}  // namespace sextant::fast
#endif
