#include "fast/rope/rope.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope_frequencies.h"
#include "reference/rope/rope.h"

namespace sextant::fast {

StoredTensors RotateByPosition(const PairRotation& rotation, const StoredTensor& x,
                               const StoredTensor& position) {
  const std::vector<double> positions = ValuesOf(position).data;
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillTable<Table>(positions, rotation.frequencies.of_pair, rotation.frequencies.amplitude,
                     cosine, sine);
  };
  return RotateByTables(rotation.rotation, x, fill);
}

namespace {

StoredTensors RunRope(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Rope>(c);
  const StoredTensor& x = inputs[0];
  return RotateByPosition({RotationOf(op, x.shape()), ScaledFrequencies(op.Frequencies())}, x,
                          inputs[1]);
}

}  // namespace

template <>
CaseKernel MakeKernel<Rope>() {
  return {DeclinesMixedTypes, RunRope};
}

}  // namespace sextant::fast
