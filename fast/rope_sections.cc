#include "reference/rope_sections.h"

#include "fast/kernel.h"
#include "fast/rope.h"
#include "fast/rope_frequencies.h"

namespace sextant::fast {
namespace {

// The table of every axis is filled for its own pairs, whose columns then go to their places.
template <class Table>
void FillSections(const std::vector<size_t>& axes, const std::vector<DoubleDouble>& frequency,
                  const Tensor<double>& position, Table* cosine, Table* sine) {
  for (size_t a = 0; a < position.shape[1]; ++a) {
    std::vector<size_t> pairs;
    std::vector<DoubleDouble> own;
    for (size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] != a) continue;
      pairs.push_back(k);
      own.push_back(frequency[k]);
    }
    const std::vector<double> rows = PositionsOfAxis(position, a).data;
    std::vector<Table> own_cosine(rows.size() * pairs.size()), own_sine(own_cosine.size());
    FillTable<Table>(rows, own, 1.0, own_cosine.data(), own_sine.data());
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t i = 0; i < pairs.size(); ++i) {
        cosine[row * axes.size() + pairs[i]] = own_cosine[row * pairs.size() + i];
        sine[row * axes.size() + pairs[i]] = own_sine[row * pairs.size() + i];
      }
    }
  }
}

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeSections>(c);
  const Tensor<double>& x = inputs[0].values;
  const Rotation rotation = RotationOf(op, x.shape);
  const auto frequency = Frequencies(op.base, op.scaling, rotation.R);
  const auto fill = [&]<class Table>(Table* cosine, Table* sine) {
    FillSections(op.Axes(), frequency, inputs[1].values, cosine, sine);
  };
  return TurnByTables(rotation, c.dtype(), x, fill);
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeSections>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
