#include "reference/rope/rope_cos_sin.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

// table: the columns of the pairs, half [rows, pairs], in their columns of the layout.
template <Element T>
void Arrange(TableLayout layout, size_t pairs, const std::vector<T>& half, T* table) {
  if (layout == TableLayout::kHalfWidth) {
    std::ranges::copy(half, table);
    return;
  }
  for (size_t row = 0; row < half.size(); row += pairs) {
    const T* from = half.data() + row;
    T* to = table + 2 * row;
    if (layout == TableLayout::kHalves) {
      std::copy_n(from, pairs, to);
      std::copy_n(from, pairs, to + pairs);
    } else {
      for (size_t k = 0; k < pairs; ++k) to[2 * k] = to[2 * k + 1] = from[k];
    }
  }
}

StoredTensors RunRopeCosSin(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeCosSin>(c);
  const std::vector<double> position = ValuesOf(inputs[0]).data;
  const auto pairs = static_cast<size_t>(op.R.value / 2);
  const Frequencies frequencies = ScaledFrequencies(op.Frequencies());
  StoredTensors table = OutputsOf(c);
  WithElement(table[0].dtype(), [&]<class T>() {
    std::vector<T> cosine(position.size() * pairs), sine(cosine.size());
    FillTable<T>(position, frequencies.of_pair, frequencies.amplitude, cosine.data(), sine.data());
    Arrange(op.layout, pairs, cosine, table[0].As<T>());
    Arrange(op.layout, pairs, sine, table[1].As<T>());
  });
  return table;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeCosSin>() {
  return {DeclinesTwoTypes, RunRopeCosSin};
}

}  // namespace sextant::fast
