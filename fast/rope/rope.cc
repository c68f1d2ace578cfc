#include "fast/rope/rope.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope_frequencies.h"
#include "reference/rope/rope.h"

namespace sextant::fast {

Tensors RotateByPosition(const PairRotation& rotation, DType dtype, const Tensor<double>& x,
                         const Tensor<double>& position) {
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillTable<Table>(position.data, rotation.frequencies.of_pair, rotation.frequencies.amplitude,
                     cosine, sine);
  };
  return RotateByTables(rotation.rotation, dtype, x, fill);
}

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Rope>(c);
  const Tensor<double>& x = inputs[0].values;
  return RotateByPosition({RotationOf(op, x.shape), ScaledFrequencies(op.Frequencies())}, c.dtype(),
                          x, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<Rope>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
