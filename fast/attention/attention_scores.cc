#include "reference/attention/attention_scores.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

Tensors RunAttentionScores(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<AttentionScores>(c);
  AttentionAttributes attributes;
  attributes.scale = op.scale;
  attributes.H = op.H;
  attributes.K = op.K;
  return ScoreCase(attributes, c.dtype(), inputs[0].values, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionScores>() {
  return {DeclinesMixedTypes, RunAttentionScores};
}

}  // namespace sextant::fast
