#include "fast/attention/attend_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/attend_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/attention/attend.h"
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
HWY_INLINE void AttendAll(const AttendInputs<T>& in, T* y, C* lse, C* scratch) {
  const AttentionAttributes& op = *in.attributes;
  const auto H = static_cast<size_t>(op.H.value), S = static_cast<size_t>(op.S.value),
             K = static_cast<size_t>(op.K.value), keys_of_head = static_cast<size_t>(op.T.value);
  const size_t D = in.D, E = in.E, rows = static_cast<size_t>(op.B.value) * H * S;
  C *q = scratch, *sum = q + D, *weight = sum + E;
  for (size_t i = 0; i < rows; ++i, y += E) {
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
    Convert(sum, y, E);
  }
}

template <class T, class C = Computed<T>>
HWY_INLINE void ScoreAll(const AttendInputs<T>& in, T* scores, C* scratch) {
  const AttentionAttributes& op = *in.attributes;
  const auto H = static_cast<size_t>(op.H.value), S = static_cast<size_t>(op.S.value),
             K = static_cast<size_t>(op.K.value), keys = static_cast<size_t>(op.T.value);
  C *q = scratch, *score = q + in.D;
  for (size_t i = 0; i < static_cast<size_t>(op.B.value) * H * S; ++i, scores += keys) {
    const size_t head = (i / (H * S) * K + op.KeyHeadOf(i / S % H)) * keys;
    Convert(in.q + i * in.D, q, in.D);
    Scores(in, i, in.k + head * in.D, {0, keys}, q, score);
    Convert(score, scores, keys);
  }
}

void ScoreElements(DType dtype, const void* in, UntypedOutput scores, UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    ScoreAll<T, Computed<T>>(*static_cast<const AttendInputs<T>*>(in), scores, scratch);
  });
}

void AttendElements(DType dtype, const void* in, UntypedOutput y, UntypedOutput lse,
                    UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    AttendAll<T, Computed<T>>(*static_cast<const AttendInputs<T>*>(in), y, lse, scratch);
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
void AttendRows(const AttendInputs<T>& in, T* y, Computed<T>* lse, Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(AttendElements)(kDType<T>, &in, y, lse, scratch);
}

template void AttendRows(const AttendInputs<double>&, double*, double*, double*) noexcept;
template void AttendRows(const AttendInputs<float>&, float*, float*, float*) noexcept;
template void AttendRows(const AttendInputs<F16>&, F16*, float*, float*) noexcept;
template void AttendRows(const AttendInputs<BF16>&, BF16*, float*, float*) noexcept;

template <Element T>
void ScoreRows(const AttendInputs<T>& in, T* scores, Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ScoreElements)(kDType<T>, &in, scores, scratch);
}

template void ScoreRows(const AttendInputs<double>&, double*, double*) noexcept;
template void ScoreRows(const AttendInputs<float>&, float*, float*) noexcept;
template void ScoreRows(const AttendInputs<F16>&, F16*, float*) noexcept;
template void ScoreRows(const AttendInputs<BF16>&, BF16*, float*) noexcept;

double ScaleOf(const AttentionAttributes& attributes, size_t D) {
  return attributes.scale ? *attributes.scale : 1 / std::sqrt(static_cast<double>(D));
}

// Calls Attend: for all, or on several threads (InParallelHere) for the queries of one key head at
// a time.
template <Element T>
void AttendInParallel(const AttendInputs<T>& in, T* y, Computed<T>* lse) {
  const auto attend = [](const AttendInputs<T>& of, T* to, Computed<T>* sums) {
    std::vector<Computed<T>> scratch(AttendScratchOf(of));
    Attend(of, to, sums, scratch.data());
  };
  if (ThreadsHere() == 1) return attend(in, y, lse);
  const AttentionAttributes& all = *in.attributes;
  const auto H = static_cast<size_t>(all.H.value), K = static_cast<size_t>(all.K.value),
             S = static_cast<size_t>(all.S.value), keys = static_cast<size_t>(all.T.value),
             heads = K == 0 ? 0 : H / K;
  InParallelHere(static_cast<size_t>(all.B.value) * K, [&](size_t i) {
    AttentionAttributes attributes = all;
    attributes.B.value = attributes.K.value = 1;
    attributes.H.value = static_cast<int64_t>(heads);
    for (auto* const of_batches : {&attributes.query_offset, &attributes.key_length})
      if (*of_batches && (*of_batches)->size() > 1) *of_batches = {(**of_batches)[i / K]};
    const size_t row = i * heads * S;  // the first query
    AttendInputs<T> part = in;
    part.attributes = &attributes;
    part.q += row * in.D;
    part.k += i * keys * in.D;
    part.v += i * keys * in.E;
    if (in.bias) part.bias += row * keys;
    if (in.sink) part.sink += i % K * heads;
    attend(part, y + row * in.E, lse + row);
  });
}

Tensors AttendCase(const AttentionAttributes& attributes, DType dtype, const Tensor<double>& q,
                   const Tensor<double>& k, const Tensor<double>& v,
                   const AttentionExtras& extras) {
  const size_t D = q.shape[3], E = v.shape[3];
  return WithElement(dtype, [&]<class T>() -> Tensors {
    const std::vector<T> query = ToElements<T>(q), key = ToElements<T>(k), value = ToElements<T>(v);
    const std::vector<T> bias = extras.bias ? ToElements<T>(*extras.bias) : std::vector<T>();
    std::vector<Computed<T>> sink;
    if (extras.sink) sink = ToElements<Computed<T>>(*extras.sink);
    const AttendInputs<T> in{.attributes = &attributes,
                             .D = D,
                             .E = E,
                             .q = query.data(),
                             .k = key.data(),
                             .v = value.data(),
                             .bias = extras.bias ? bias.data() : nullptr,
                             .sink = extras.sink ? sink.data() : nullptr,
                             .scale = ScaleOf(attributes, D),
                             .add_bias = extras.add_bias};
    const Shape rows(q.shape.begin(), q.shape.end() - 1);
    std::vector<T> y(CountOf(rows) * E);
    std::vector<Computed<T>> lse(CountOf(rows));
    AttendInParallel(in, y.data(), lse.data());
    Shape shape = rows;
    shape.push_back(E);
    return {ToTensor("y", shape, y), ToTensor("lse", rows, lse)};
  });
}

Tensors ScoreCase(AttentionAttributes attributes, DType dtype, const Tensor<double>& q,
                  const Tensor<double>& k) {
  const Shape shape = {q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  attributes.B.value = static_cast<int64_t>(shape[0]);
  attributes.S.value = static_cast<int64_t>(shape[2]);
  attributes.T.value = static_cast<int64_t>(shape[3]);
  const size_t D = q.shape[3];
  return WithElement(dtype, [&]<class T>() -> Tensors {
    const std::vector<T> query = ToElements<T>(q), key = ToElements<T>(k);
    const AttendInputs<T> in{.attributes = &attributes,
                             .D = D,
                             .q = query.data(),
                             .k = key.data(),
                             .scale = ScaleOf(attributes, D)};
    std::vector<T> scores(CountOf(shape));
    std::vector<Computed<T>> scratch(ScratchOf(in));
    ScoreRows(in, scores.data(), scratch.data());
    return {ToTensor("scores", shape, scores)};
  });
}

}  // namespace sextant::fast
#endif
