#include "reference/rope/rope_given.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

StoredTensors RunRopeGiven(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeGiven>(c);
  const std::vector<double> given = ValuesOf(inputs[2]).data;
  const StoredTensor& x = inputs[0];
  return RotateByPosition(
      {RotationOf(op, x.shape()), {{given.begin(), given.end()}, op.attention_factor}}, x,
      inputs[1]);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeGiven>() {
  return {DeclinesMixedTypes, RunRopeGiven};
}

}  // namespace sextant::fast
