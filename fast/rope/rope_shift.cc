#include "reference/rope/rope_shift.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// The table has one row per sequence, used for all keys of the sequence.
StoredTensors RunRopeShift(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeShift>(c);
  const StoredTensor& k = inputs[0];
  const std::vector<double> shift = ValuesOf(inputs[1]).data;
  const auto frequency = ScaledFrequencies(op.Frequencies()).of_pair;
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillTable<Table>(shift, frequency, 1.0, cosine, sine);
  };
  return RotateByTables(RotationOf(op, k.shape()), k, fill, true);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeShift>() {
  return {DeclinesMixedTypes, RunRopeShift};
}

}  // namespace sextant::fast
