#include "reference/rope/rope_given.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeGiven>(c);
  const std::vector<double>& given = inputs[2].values.data;
  const Tensor<double>& x = inputs[0].values;
  return RotateByPosition(
      {RotationOf(op, x.shape), {{given.begin(), given.end()}, op.attention_factor}}, c.dtype(), x,
      inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeGiven>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
