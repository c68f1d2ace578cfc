#include "reference/attention/attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

Tensors RunAttention(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Attention>(c);
  return AttendCase(op, c.dtype(), inputs[0].values, inputs[1].values, inputs[2].values,
                    {.bias = FindValues(inputs, "bias"),
                     .sink = FindValues(inputs, "sink"),
                     .add_bias = op.add_bias});
}

}  // namespace

template <>
CaseKernel MakeKernel<Attention>() {
  return {DeclinesMixedTypes, RunAttention};
}

}  // namespace sextant::fast
