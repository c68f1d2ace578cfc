#include "reference/attention/attention_scores.h"

#include "fast/attention/attend.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

StoredTensors RunAttentionScores(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<AttentionScores>(c);
  StoredTensors scores = OutputsOf(c);
  const Shape& shape = scores[0].shape();  // [B,H,S,T]
  AttentionAttributes attributes;
  attributes.scale = op.scale;
  attributes.B.value = static_cast<int64_t>(shape[0]);
  attributes.H = op.H;
  attributes.K = op.K;
  attributes.S.value = static_cast<int64_t>(shape[2]);
  attributes.T.value = static_cast<int64_t>(shape[3]);
  const size_t D = inputs[0].shape()[3];
  WithElement(c.dtype(), [&]<class T>() {
    const AttendInputs<T> in{.attributes = &attributes,
                             .D = D,
                             .q = inputs[0].As<T>(),
                             .k = inputs[1].As<T>(),
                             .scale = ScaleOf(attributes, D)};
    InRowParts(QueriesOf(in).count, shape[3] * D, [&](size_t first, size_t count) {
      std::vector<Computed<T>> scratch(ScratchOf(in));
      ScoreRows(in, {first, count}, scores[0].As<T>(), scratch.data());
    });
  });
  return scores;
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionScores>() {
  return {DeclinesMixedTypes, RunAttentionScores};
}

}  // namespace sextant::fast
