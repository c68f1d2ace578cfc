#include "fast/attention/attend_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/attend_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/attention/attend_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Scores of the query in row i for `keys`; k is the first key of its head.
template <class T, class C = Computed<T>>
HWY_INLINE void Scores(const AttendInputs<T>& in, size_t i, const T* k, const KeyRange& keys,
                       const C* q, C* score) {
  const T* bias = in.bias ? in.bias + i * static_cast<size_t>(in.attributes->T.value) : nullptr;
  const auto scale = static_cast<C>(in.scale);
  const hn::CappedTag<C, 1> one;
  for (size_t t = keys.first; t < keys.last; ++t) {
    const C added = bias ? hn::GetLane(Read(one, bias + t)) : C{0};
    C s = DotOf(q, k + t * in.D, in.D);
    if (in.add_bias == AddBias::kBeforeScale) s += added;
    s *= scale;
    if (in.add_bias == AddBias::kBeforeCap) s += added;
    if (const auto cap = in.attributes->soft_cap) {
      s = static_cast<C>(*cap) * static_cast<C>(std::tanh(static_cast<double>(s) / *cap));
    }
    score[t - keys.first] = bias && !in.add_bias ? s + added : s;
  }
}

template <class T, class C = Computed<T>>
HWY_INLINE void AttendAll(const AttendInputs<T>& in, const Units& queries, T* y, C* lse,
                          C* scratch) {
  const AttentionAttributes& op = *in.attributes;
  const auto H = static_cast<size_t>(op.H.value), S = static_cast<size_t>(op.S.value),
             K = static_cast<size_t>(op.K.value), keys_of_head = static_cast<size_t>(op.T.value);
  const size_t D = in.D, E = in.E;
  C *q = scratch, *sum = q + D, *weight = sum + E;
  for (size_t i = queries.first; i < queries.first + queries.count; ++i) {
    const size_t b = i / (H * S), h = i / S % H;
    const KeyRange keys = op.KeysOf(b, i % S);
    std::fill(sum, sum + E, C{0});
    lse[i] = -std::numeric_limits<C>::infinity();
    if (!keys.IsEmpty()) {
      const size_t head = (b * K + op.KeyHeadOf(h)) * keys_of_head;
      Convert(in.q + i * D, q, D);
      Scores(in, i, in.k + head * D, keys, q, weight);
      const Powers<C> powers = ToPowers(weight, keys.size());
      lse[i] = powers.largest + std::log(powers.sum);
      if (powers.sum != 0) {
        const C by = Reciprocal(powers, in.sink ? in.sink + h : nullptr);
        for (size_t t = 0; t < keys.size(); ++t) weight[t] *= by;
        AddRows(weight, in.v + (head + keys.first) * E, keys.size(), sum, E);
      }
    }
    Convert(sum, y + i * E, E);
  }
}

template <class T, class C = Computed<T>>
HWY_INLINE void ScoreAll(const AttendInputs<T>& in, const Units& queries, T* scores, C* scratch) {
  const AttentionAttributes& op = *in.attributes;
  const auto H = static_cast<size_t>(op.H.value), S = static_cast<size_t>(op.S.value),
             K = static_cast<size_t>(op.K.value), keys = static_cast<size_t>(op.T.value);
  C *q = scratch, *score = q + in.D;
  for (size_t i = queries.first; i < queries.first + queries.count; ++i) {
    const size_t head = (i / (H * S) * K + op.KeyHeadOf(i / S % H)) * keys;
    Convert(in.q + i * in.D, q, in.D);
    Scores(in, i, in.k + head * in.D, {0, keys}, q, score);
    Convert(score, scores + i * keys, keys);
  }
}

void ScoreElements(DType dtype, const void* in, Units queries, UntypedOutput scores,
                   UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    ScoreAll<T, Computed<T>>(*static_cast<const AttendInputs<T>*>(in), queries, scores, scratch);
  });
}

void AttendElements(DType dtype, const void* in, Units queries, UntypedOutput y, UntypedOutput lse,
                    UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    AttendAll<T, Computed<T>>(*static_cast<const AttendInputs<T>*>(in), queries, y, lse, scratch);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ScoreElements);
HWY_EXPORT(AttendElements);

template <Element T>
void AttendRows(const AttendInputs<T>& in, const Units& queries, T* y, Computed<T>* lse,
                Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(AttendElements)(kDType<T>, &in, queries, y, lse, scratch);
}

template void AttendRows(const AttendInputs<double>&, const Units&, double*, double*,
                         double*) noexcept;
template void AttendRows(const AttendInputs<float>&, const Units&, float*, float*, float*) noexcept;
template void AttendRows(const AttendInputs<F16>&, const Units&, F16*, float*, float*) noexcept;
template void AttendRows(const AttendInputs<BF16>&, const Units&, BF16*, float*, float*) noexcept;

template <Element T>
void ScoreRows(const AttendInputs<T>& in, const Units& queries, T* scores,
               Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ScoreElements)(kDType<T>, &in, queries, scores, scratch);
}

template void ScoreRows(const AttendInputs<double>&, const Units&, double*, double*) noexcept;
template void ScoreRows(const AttendInputs<float>&, const Units&, float*, float*) noexcept;
template void ScoreRows(const AttendInputs<F16>&, const Units&, F16*, float*) noexcept;
template void ScoreRows(const AttendInputs<BF16>&, const Units&, BF16*, float*) noexcept;

}  // namespace sextant::fast
#endif
