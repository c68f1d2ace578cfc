#include "reference/attention/rope_attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

// Rotates queries and keys with the kernel of `rope`, then computes attention.
Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeAttention>(c);
  const auto rotated = [&](const Tensor<double>& x, const Tensor<double>& position) {
    const PairRotation rotation{RotationOf(op, x.shape), ScaledFrequencies(op.Frequencies())};
    return RotateByPosition(rotation, c.dtype(), x, position)[0].values;
  };
  return AttendCase(op, c.dtype(), rotated(inputs[0].values, inputs[3].values),
                    rotated(inputs[1].values, inputs[4].values), inputs[2].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeAttention>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
