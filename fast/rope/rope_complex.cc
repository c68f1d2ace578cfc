#include "reference/rope/rope_complex.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// Multiplication by e^(i a) rotates adjacent channels.
StoredTensors RunRopeComplex(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeComplex>(c);
  const StoredTensor& x = inputs[0];
  return RotateByPosition({RotationOf(op, x.shape()), ScaledFrequencies(op.Frequencies())}, x,
                          inputs[1]);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeComplex>() {
  return {DeclinesMixedTypes, RunRopeComplex};
}

}  // namespace sextant::fast
