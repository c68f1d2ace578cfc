#include "reference/rope/xpos.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/growing_table.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

// growth = ln((2k/R + gamma) / (1 + gamma)) / scale_base, negated for keys.
std::vector<GrowingRotation> GrowingRotationsOf(const Xpos& op) {
  const auto R = static_cast<size_t>(op.R.value);
  const DoubleDouble gamma = op.gamma;
  std::vector<GrowingRotation> rotations;
  for (const DoubleDouble& f : ScaledFrequencies(op.Rotary().Frequencies()).of_pair) {
    const DoubleDouble channel =
        DoubleDouble(2 * static_cast<int64_t>(rotations.size())) / static_cast<double>(R);
    const DoubleDouble growth = log((channel + gamma) / (gamma + 1.0)) / op.scale_base;
    rotations.push_back({f, op.role == XposRole::kQuery ? growth : -growth});
  }
  return rotations;
}

StoredTensors RunXpos(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Xpos>(c);
  const StoredTensor& x = inputs[0];
  const std::vector<double> positions = ValuesOf(inputs[1]).data;
  const std::vector<GrowingRotation> rotations = GrowingRotationsOf(op);
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillGrowingTable<Table>(positions, static_cast<double>(op.center), rotations, cosine, sine);
  };
  return RotateByTables(RotationOf(op, x.shape()), x, fill);
}

}  // namespace

template <>
CaseKernel MakeKernel<Xpos>() {
  return {DeclinesMixedTypes, RunXpos};
}

}  // namespace sextant::fast
