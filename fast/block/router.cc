#include "fast/block/router.h"

#include <algorithm>
#include <limits>

#include "fast/attention/softmax.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/activation.h"
#include "fast/layer/cast.h"

namespace sextant::fast {
namespace {

// The `count` largest numbers so far, the largest first. Most numbers are smaller than all of
// these, which is one comparison.
template <class C>
struct Largest {
  Largest(int64_t* indices, C* numbers, size_t count)
      : indices(indices), numbers(numbers), count(count) {
    std::fill_n(numbers, count, -std::numeric_limits<C>::infinity());
    std::fill_n(indices, count, 0);
  }
  void Add(C number, size_t index) {
    if (!(number > numbers[count - 1])) return;
    size_t at = count - 1;
    for (; at > 0 && number > numbers[at - 1]; --at) {
      numbers[at] = numbers[at - 1];
      indices[at] = indices[at - 1];
    }
    numbers[at] = number;
    indices[at] = static_cast<int64_t>(index);
  }
  int64_t* indices;
  C* numbers;
  size_t count;
};

template <class C>
C GroupNumber(size_t count, const C* by, size_t size) {
  int64_t indices[2];
  C best[2];
  Largest<C> largest(indices, best, count);
  for (size_t i = 0; i < size; ++i) largest.Add(by[i], i);
  return count == 2 ? best[0] + best[1] : best[0];
}

template <class T, class C = Computed<T>>
void SetScores(const Router& op, const T* logits, RouterScratch<T>& row) {
  const auto E = static_cast<size_t>(op.E.value);
  C* const scores = row.scores.data();
  Convert(kDType<T>, logits, kDType<C>, scores, Overflow::kInf, E);
  if (op.score == RouterScore::kSigmoid)
    return Activate(ActivationKind::kSigmoid, 1, scores, scores, E);
  const auto width = static_cast<ptrdiff_t>(E);
  SoftmaxOfRows({1, E, width, width}, scores, scores);
}

}  // namespace

template <Element T>
void RouteRow(const Router& op, const T* logits, const Computed<T>* bias, int64_t* indices,
              Computed<T>* weights, RouterScratch<T>& row) {
  using C = Computed<T>;
  const auto E = static_cast<size_t>(op.E.value), K = static_cast<size_t>(op.K.value);
  const size_t groups = op.GroupCount(), size = E / groups;
  SetScores(op, logits, row);
  const C* by = row.scores.data();
  if (bias) {
    for (size_t e = 0; e < E; ++e) row.by[e] = by[e] + bias[e];
    by = row.by.data();
  }
  Largest<C> best(indices, weights, K);
  if (groups == 1) {
    for (size_t e = 0; e < E; ++e) best.Add(by[e], e);
  } else {
    const size_t top = op.ChosenGroups();
    Largest<C> best_groups(row.group_indices.data(), row.group_numbers.data(), top);
    for (size_t g = 0; g < groups; ++g)
      best_groups.Add(GroupNumber(op.BestOfGroup(), by + g * size, size), g);
    std::sort(row.group_indices.data(), row.group_indices.data() + top);
    for (size_t i = 0; i < top; ++i) {
      const size_t first = static_cast<size_t>(row.group_indices[i]) * size;
      for (size_t e = first; e < first + size; ++e) best.Add(by[e], e);
    }
  }
  for (size_t k = 0; k < K; ++k) weights[k] = row.scores[static_cast<size_t>(indices[k])];
  C divisor = 1;
  if (const BySum* const by_sum = std::get_if<BySum>(&op.renormalise)) {
    divisor = 0;
    for (size_t k = 0; k < K; ++k) divisor += weights[k];
    divisor += static_cast<C>(by_sum->eps);
  }
  for (size_t k = 0; k < K; ++k) weights[k] = weights[k] / divisor * static_cast<C>(op.scale);
}

template void RouteRow(const Router&, const double*, const double*, int64_t*, double*,
                       RouterScratch<double>&);
template void RouteRow(const Router&, const float*, const float*, int64_t*, float*,
                       RouterScratch<float>&);
template void RouteRow(const Router&, const F16*, const float*, int64_t*, float*,
                       RouterScratch<F16>&);
template void RouteRow(const Router&, const BF16*, const float*, int64_t*, float*,
                       RouterScratch<BF16>&);

namespace {

StoredTensors RunRouter(const Case& c, const StoredTensors& inputs) {
  const Router& op = StructOf<Router>(c);
  StoredTensors outputs = OutputsOf(c);
  const size_t E = ExtentOf(c, "E"), K = ExtentOf(c, "K");
  WithElement(c.dtype(), [&]<class T>() {
    using C = Computed<T>;
    const C* const bias = op.with.Has("bias") ? inputs[1].As<C>() : nullptr;
    InRowParts(ExtentOf(c, "N"), E, [&](size_t first, size_t count) {
      RouterScratch<T> scratch(E);
      for (size_t n = first; n < first + count; ++n)
        RouteRow(op, inputs[0].As<T>() + n * E, bias, outputs[0].As<int64_t>() + n * K,
                 outputs[1].As<C>() + n * K, scratch);
    });
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<Router>() {
  return {DeclinesMixedTypes, RunRouter};
}

}  // namespace sextant::fast
