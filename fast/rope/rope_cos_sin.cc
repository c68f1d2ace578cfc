#include "reference/rope/rope_cos_sin.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

// The columns of the pairs, half [rows, pairs], in their columns of the layout.
template <Element T>
std::vector<T> Arranged(TableLayout layout, size_t pairs, const std::vector<T>& half) {
  if (layout == TableLayout::kHalfWidth) return half;
  std::vector<T> table(2 * half.size());
  for (size_t row = 0; row < half.size(); row += pairs) {
    const T* from = half.data() + row;
    T* to = table.data() + 2 * row;
    if (layout == TableLayout::kHalves) {
      std::copy_n(from, pairs, to);
      std::copy_n(from, pairs, to + pairs);
    } else {
      for (size_t k = 0; k < pairs; ++k) to[2 * k] = to[2 * k + 1] = from[k];
    }
  }
  return table;
}

Tensors RunRopeCosSin(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeCosSin>(c);
  const std::vector<double>& position = inputs[0].values.data;
  const auto pairs = static_cast<size_t>(op.R.value / 2);
  const Frequencies frequencies = ScaledFrequencies(op.Frequencies());
  const auto& spec = c.info().signature.outputs[0];
  return WithElement(c.DTypeOf(spec), [&]<class T>() -> Tensors {
    std::vector<T> cosine(position.size() * pairs), sine(cosine.size());
    FillTable<T>(position, frequencies.of_pair, frequencies.amplitude, cosine.data(), sine.data());
    const Shape shape = c.ShapeOf(spec);
    return {ToTensor("cos", shape, Arranged(op.layout, pairs, cosine)),
            ToTensor("sin", shape, Arranged(op.layout, pairs, sine))};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeCosSin>() {
  return {DeclinesTwoTypes, RunRopeCosSin};
}

}  // namespace sextant::fast
