#include "fast/attention/relative_attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/relative_attention.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "fast/attention/attend_row-inl.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "reference/attention/relative_attention.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Scratch memory of one query.
template <class C>
struct RowScratch {
  C *q, *weight, *product, *row_weight, *content, *relative;
  RowScratch(C* scratch, size_t D, size_t keys, size_t rows)
      : q(scratch),
        weight(q + D),
        product(weight + keys),
        row_weight(product + rows),
        content(row_weight + rows),
        relative(content + D) {}
};

// Writes the scores of one query to `weight`: its products with the keys k of its head, plus its
// products with rows of the key table. Key t uses row row_of(t); first <= row_of(t) < last.
template <class T, class C, class RowOf>
HWY_INLINE void ScoreKeys(const RelativeInputs<T>& in, const T* k, RowOf row_of, size_t first,
                          size_t last, const RowScratch<C>& s) {
  const size_t keys = in.key_position.size(), D = in.D;
  for (size_t r = first; r < last; ++r) s.product[r] = DotOf(s.q, in.key_table + r * D, D);
  for (size_t t = 0; t < keys; ++t) {
    const C sum = DotOf(s.q, k + t * D, D) + s.product[row_of(t)];
    s.weight[t] = sum * static_cast<C>(in.scale);
  }
}

// The weighted mean of the values v of its head, plus that of the rows of the value table.
template <class T, class C, class RowOf>
HWY_INLINE void MeanOfValues(const RelativeInputs<T>& in, const T* v, RowOf row_of, size_t first,
                             size_t last, const RowScratch<C>& s, T* y) {
  const size_t keys = in.key_position.size(), D = in.D;
  std::fill(s.row_weight, s.content, C{0});
  std::fill(s.content, s.relative + D, C{0});
  for (size_t t = 0; t < keys; ++t) {
    AddTimes(s.weight[t], v + t * D, s.content, D);
    s.row_weight[row_of(t)] += s.weight[t];
  }
  for (size_t r = first; r < last; ++r) {
    if (s.row_weight[r] != 0) AddTimes(s.row_weight[r], in.value_table + r * D, s.relative, D);
  }
  const hn::ScalableTag<C> d;
  WriteEach(d, D, y, [&](auto dk, size_t k) SEXTANT_INLINE {
    return hn::Add(hn::LoadU(dk, s.content + k), hn::LoadU(dk, s.relative + k));
  });
}

template <class T, class C = Computed<T>>
HWY_INLINE void AttendAll(const RelativeInputs<T>& in, T* y, T* scores, C* scratch) {
  const size_t S = in.query_position.size(), keys = in.key_position.size(), D = in.D;
  const size_t rows = 2 * static_cast<size_t>(in.clip) + 1;
  const RowScratch<C> own(scratch, D, keys, rows);
  for (size_t i = 0; i < in.heads * S; ++i, y += D, scores += keys) {
    const size_t head = i / S;
    const int64_t query = in.query_position[i % S];
    const auto row_of = [&](size_t t) {
      return static_cast<size_t>(RelativeAttention::RowOf(query, in.key_position[t], in.clip));
    };
    size_t first = rows, last = 0;
    for (size_t t = 0; t < keys; ++t) {
      first = std::min(first, row_of(t));
      last = std::max(last, row_of(t) + 1);
    }
    Convert(in.q + i * D, own.q, D);
    ScoreKeys(in, in.k + head * keys * D, row_of, first, last, own);
    Convert(own.weight, scores, keys);
    if (keys > 0) {
      const C sum = ToPowers(own.weight, keys).sum;
      // If all scores are -infinity, all weights are 0.
      std::transform(own.weight, own.weight + keys, own.weight,
                     [=](C w) { return sum == 0 ? 0 : w / sum; });
    }
    MeanOfValues(in, in.v + head * keys * D, row_of, first, last, own, y);
  }
}

void RelativeElements(DType dtype, const void* in, UntypedOutput y, UntypedOutput scores,
                      UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    AttendAll<T, Computed<T>>(*static_cast<const RelativeInputs<T>*>(in), y, scores, scratch);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(RelativeElements);

template <Element T>
size_t ScratchOf(const RelativeInputs<T>& in) {
  return 3 * in.D + in.key_position.size() + 2 * (2 * static_cast<size_t>(in.clip) + 1);
}

template <Element T>
void RelativeAttend(const RelativeInputs<T>& in, T* y, T* scores, Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(RelativeElements)(kDType<T>, &in, y, scores, scratch);
}

template size_t ScratchOf(const RelativeInputs<double>&);
template size_t ScratchOf(const RelativeInputs<float>&);
template size_t ScratchOf(const RelativeInputs<F16>&);
template size_t ScratchOf(const RelativeInputs<BF16>&);
template void RelativeAttend(const RelativeInputs<double>&, double*, double*, double*) noexcept;
template void RelativeAttend(const RelativeInputs<float>&, float*, float*, float*) noexcept;
template void RelativeAttend(const RelativeInputs<F16>&, F16*, F16*, float*) noexcept;
template void RelativeAttend(const RelativeInputs<BF16>&, BF16*, BF16*, float*) noexcept;

namespace {

StoredTensors RunRelativeAttention(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RelativeAttention>(c);
  const size_t heads = ExtentOf(c, "B") * ExtentOf(c, "H"), S = ExtentOf(c, "S"),
               keys = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  const std::vector<int64_t> query = ToIntegers(inputs[5]), key = ToIntegers(inputs[6]);
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    InRowParts(heads, S * keys * D, [&](size_t first, size_t count) {
      const RelativeInputs<T> in{
          .heads = count,
          .D = D,
          .q = inputs[0].As<T>() + first * S * D,
          .k = inputs[1].As<T>() + first * keys * D,
          .v = inputs[2].As<T>() + first * keys * D,
          .key_table = inputs[3].As<T>(),
          .value_table = inputs[4].As<T>(),
          .query_position = query,
          .key_position = key,
          .clip = op.clip,
          .scale = op.scale ? *op.scale : 1 / std::sqrt(static_cast<double>(D))};
      std::vector<Computed<T>> scratch(ScratchOf(in));
      RelativeAttend(in, outputs[0].As<T>() + first * S * D, outputs[1].As<T>() + first * S * keys,
                     scratch.data());
    });
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<RelativeAttention>() {
  return {DeclinesMixedTypes, RunRelativeAttention};
}

}  // namespace sextant::fast
#endif
