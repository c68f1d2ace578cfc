#include "reference/attention/rope_attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

// Rotates queries and keys with the kernel of `rope`, then computes attention.
Tensors RunRopeAttention(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeAttention>(c);
  const auto rotated = [&](const NamedTensor& x, const NamedTensor& position) {
    const PairRotation rotation{RotationOf(op, x.values.shape),
                                ScaledFrequencies(op.Frequencies())};
    return ValuesOf(RotateByPosition(rotation, StoredTensor(x), StoredTensor(position))[0]);
  };
  return AttendCase(op, c.dtype(), rotated(inputs[0], inputs[3]), rotated(inputs[1], inputs[4]),
                    inputs[2].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeAttention>() {
  return {DeclinesMixedTypes, RunRopeAttention};
}

}  // namespace sextant::fast
