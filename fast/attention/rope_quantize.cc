#include "reference/attention/rope_quantize.h"

#include "fast/kernel/kernel.h"
#include "fast/layer/quantized_rows.h"
#include "fast/rope/rope.h"

namespace sextant::fast {
namespace {

StoredTensors RunRopeQuantize(const Case& c, const StoredTensors& inputs) {
  const auto& op = StructOf<RopeQuantize>(c);
  const Shape x = inputs[0].shape();
  const StoredTensors y = RotateByPosition({RotationOf(op, x), ScaledFrequencies(op.Frequencies())},
                                           inputs[0], inputs[1]);
  return QuantizedRows(c, op, inputs, {x[0] * x[1] * x[2], 1, 1, x[3]},
                       [&]<class T>(size_t n, T*) { return y[0].As<T>() + n * x[3]; });
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeQuantize>() {
  return {DeclinesMixedTypes, RunRopeQuantize};
}

}  // namespace sextant::fast
