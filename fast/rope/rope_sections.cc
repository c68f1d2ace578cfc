#include "reference/rope/rope_sections.h"

#include "fast/kernel/kernel.h"
#include "fast/rope/axis_table.h"
#include "fast/rope/rope.h"
#include "fast/rope/rope_frequencies.h"

namespace sextant::fast {
namespace {

StoredTensors RunRopeSections(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeSections>(c);
  const StoredTensor& x = inputs[0];
  const Tensor<double> position = ValuesOf(inputs[1]);
  const Frequencies frequencies = ScaledFrequencies(op.Frequencies());
  const std::vector<size_t> axis_of = op.Axes();
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    for (size_t a = 0; a < position.shape[1]; ++a) {
      std::vector<size_t> columns;
      Frequencies own{{}, frequencies.amplitude};
      for (size_t k = 0; k < axis_of.size(); ++k) {
        if (axis_of[k] != a) continue;
        columns.push_back(k);
        own.of_pair.push_back(frequencies.of_pair[k]);
      }
      FillAxis<Table>(PositionsOfAxis(position, a).data, own, columns, axis_of.size(), cosine,
                      sine);
    }
  };
  return RotateByTables(RotationOf(op, x.shape()), x, fill);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeSections>() {
  return {DeclinesMixedTypes, RunRopeSections};
}

}  // namespace sextant::fast
