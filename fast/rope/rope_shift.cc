#include "reference/rope/rope_shift.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// The table has one row per sequence, used for all keys of the sequence.
Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeShift>(c);
  const Tensor<double>& k = inputs[0].values;
  const auto frequency = ScaledFrequencies(op.Frequencies()).of_pair;
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillTable<Table>(inputs[1].values.data, frequency, 1.0, cosine, sine);
  };
  return RotateByTables(RotationOf(op, k.shape), c.dtype(), k, fill, true);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeShift>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
