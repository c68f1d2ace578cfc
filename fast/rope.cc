#include "fast/rope.h"

#include "fast/kernel.h"
#include "fast/rope_frequencies.h"
#include "reference/rope.h"

namespace sextant::fast {

Tensors TurnByPosition(const Turning& turning, DType dtype, const Tensor<double>& x,
                       const Tensor<double>& position) {
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillTable<Table>(position.data, turning.frequency, turning.amplitude, cosine, sine);
  };
  return TurnByTables(turning.rotation, dtype, x, fill);
}

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Rope>(c);
  const Tensor<double>& x = inputs[0].values;
  const Rotation rotation = RotationOf(op, x.shape);
  return TurnByPosition({rotation, Frequencies(op.base, op.scaling, rotation.R)}, c.dtype(), x,
                        inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<Rope>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
