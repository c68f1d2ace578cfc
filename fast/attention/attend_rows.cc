#include "fast/attention/attend_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/attend_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fast/attention/attend_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

constexpr size_t kKeysTogether = 64;  // 32 KiB of keys of 128 channels in f32

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

// Queries of one key head, at most kQueriesTogether. They take turns at each block of keys and of
// values, which then comes from memory once.
template <class T, class C = Computed<T>>
HWY_INLINE void AttendTogether(const AttendInputs<T>& in, size_t head, const Units& queries, T* y,
                               C* lse, C* scratch) {
  const AttentionAttributes& op = *in.attributes;
  const auto H = static_cast<size_t>(op.H.value), S = static_cast<size_t>(op.S.value),
             all_keys = static_cast<size_t>(op.T.value);
  const T *k = in.k + head * all_keys * in.D, *v = in.v + head * all_keys * in.E;
  struct Query {
    size_t i;
    KeyRange keys;
    C *q, *sum, *weight;
  };
  std::array<Query, kQueriesTogether> each;
  KeyRange all{SIZE_MAX, 0};
  for (size_t j = 0; j < queries.count; ++j) {
    const size_t i = queries.first + j;
    C* const q = scratch + j * (in.D + in.E + all_keys);
    each[j] = {i, op.KeysOf(i / (H * S), i % S), q, q + in.D, q + in.D + in.E};
    Convert(in.q + i * in.D, q, in.D);
    std::fill_n(each[j].sum, in.E, C{0});
    lse[i] = -std::numeric_limits<C>::infinity();
    if (each[j].keys.IsEmpty()) continue;
    all = {std::min(all.first, each[j].keys.first), std::max(all.last, each[j].keys.last)};
  }
  const auto in_turns = [&](const auto& body) SEXTANT_INLINE {
    for (size_t t = all.first; t < all.last; t += kKeysTogether) {
      for (size_t j = 0; j < queries.count; ++j) {
        const KeyRange& keys = each[j].keys;
        const KeyRange block{std::max(t, keys.first), std::min(t + kKeysTogether, keys.last)};
        if (block.first < block.last)
          body(each[j], block, each[j].weight + (block.first - keys.first));
      }
    }
  };
  in_turns([&](const Query& query, const KeyRange& block, C* score)
               SEXTANT_INLINE { Scores(in, query.i, k, block, query.q, score); });
  for (size_t j = 0; j < queries.count; ++j) {
    auto& [i, keys, q, sum, weight] = each[j];
    if (keys.IsEmpty()) continue;
    const Powers<C> powers = ToPowers(weight, keys.size());
    lse[i] = powers.largest + std::log(powers.sum);
    if (powers.sum == 0) {
      keys = {};
      continue;
    }
    const C by = Reciprocal(powers, in.sink ? in.sink + i / S % H : nullptr);
    for (size_t t = 0; t < keys.size(); ++t) weight[t] *= by;
  }
  in_turns([&](const Query& query, const KeyRange& block, const C* weight) SEXTANT_INLINE {
    AddRows(weight, v + block.first * in.E, block.size(), query.sum, in.E);
  });
  for (size_t j = 0; j < queries.count; ++j) Convert(each[j].sum, y + each[j].i * in.E, in.E);
}

template <class T, class C = Computed<T>>
HWY_INLINE void AttendAll(const AttendInputs<T>& in, const Units& queries, T* y, C* lse,
                          C* scratch) {
  if (queries.count == 0) return;
  const AttentionAttributes& op = *in.attributes;
  const auto of_head = static_cast<size_t>(QueriesOfKeyHead(op));
  const size_t end = queries.first + queries.count;
  for (size_t i = queries.first, count; i < end; i += count) {
    count = std::min({end - i, of_head - i % of_head, kQueriesTogether});
    AttendTogether(in, i / of_head, {i, count}, y, lse, scratch);
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
