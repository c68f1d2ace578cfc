#include "reference/rope/rope_complex.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// Multiplication by e^(i a) rotates adjacent channels.
Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeComplex>(c);
  const Tensor<double>& x = inputs[0].values;
  return RotateByPosition({RotationOf(op, x.shape), ScaledFrequencies(op.Frequencies())}, c.dtype(),
                          x, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeComplex>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
