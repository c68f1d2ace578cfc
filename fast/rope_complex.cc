#include "reference/rope_complex.h"

#include "fast/kernel.h"
#include "fast/rope.h"
#include "fast/rope_frequencies.h"
#include "fast/typed.h"

namespace sextant::fast {
namespace {

// Multiplication by e^(i a) is the rotation of neighbouring channels.
Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeComplex>(c);
  const auto R = static_cast<size_t>(op.R.value);
  const Turning turning{{.B = ExtentOf(c, "B"),
                         .H = ExtentOf(c, "H"),
                         .S = ExtentOf(c, "S"),
                         .D = ExtentOf(c, "D"),
                         .R = R,
                         .offset = static_cast<size_t>(op.offset),
                         .pairing = Pairing::kInterleaved,
                         .direction = op.direction},
                        Frequencies(op.base, op.scaling, R)};
  return TurnByPosition(turning, c.dtype(), inputs[0].values, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeComplex>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
