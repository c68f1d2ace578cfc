#include "reference/attention/rope_attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

// Queries and keys are turned as kernels of `rope` turn them, then attended to.
Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeAttention>(c);
  const auto turned = [&](const Tensor<double>& x, const Tensor<double>& position) {
    const PairRotation turning{RotationOf(op, x.shape), ScaledFrequencies(op.Frequencies())};
    return RotateByPosition(turning, c.dtype(), x, position)[0].values;
  };
  return AttendCase(op, c.dtype(), turned(inputs[0].values, inputs[3].values),
                    turned(inputs[1].values, inputs[4].values), inputs[2].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeAttention>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
