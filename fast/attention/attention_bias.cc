#include "reference/attention/attention_bias.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

Tensors RunAttentionBias(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<AttentionBias>(c);
  return AttendCase(op, c.dtype(), inputs[0].values, inputs[1].values, inputs[2].values,
                    {.bias = &inputs[3].values, .scale_bias = op.scale_bias});
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionBias>() {
  return {DeclinesMixedTypes, RunAttentionBias};
}

}  // namespace sextant::fast
