#include "reference/rope_given.h"

#include "fast/kernel.h"
#include "fast/rope.h"
#include "fast/typed.h"

namespace sextant::fast {
namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeGiven>(c);
  const std::vector<double>& given = inputs[2].values.data;
  const Turning turning{{.B = ExtentOf(c, "B"),
                         .H = ExtentOf(c, "H"),
                         .S = ExtentOf(c, "S"),
                         .D = ExtentOf(c, "D"),
                         .R = ExtentOf(c, "R"),
                         .offset = static_cast<size_t>(op.offset),
                         .pairing = op.pairing,
                         .direction = op.direction},
                        {given.begin(), given.end()},
                        op.attention_factor};
  return TurnByPosition(turning, c.dtype(), inputs[0].values, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeGiven>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
