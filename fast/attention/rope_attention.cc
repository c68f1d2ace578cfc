#include "reference/attention/rope_attention.h"

#include "fast/attention/attend.h"
#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

// Rotates queries and keys with the kernel of `rope`, then computes attention.
StoredTensors RunRopeAttention(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeAttention>(c);
  const auto rotated = [&](const StoredTensor& x, const StoredTensor& position) {
    const PairRotation rotation{RotationOf(op, x.shape()), ScaledFrequencies(op.Frequencies())};
    return RotateByPosition(rotation, x, position);
  };
  const StoredTensors q = rotated(inputs[0], inputs[3]), k = rotated(inputs[1], inputs[4]);
  StoredTensors outputs = OutputsOf(c);
  AttendCase(op, {q[0], k[0], inputs[2]}, outputs[0], outputs[1]);
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeAttention>() {
  return {DeclinesMixedTypes, RunRopeAttention};
}

}  // namespace sextant::fast
