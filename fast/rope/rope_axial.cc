#include "reference/rope/rope_axial.h"

#include <numeric>

#include "fast/kernel/kernel.h"
#include "fast/rope/axis_table.h"
#include "fast/rope/rope.h"
#include "reference/rope/rope_sections.h"

namespace sextant::fast {
namespace {

DoubleDouble FrequencyOf(const RopeAxial& op, const RopeAxial::FrequencyIndex& place) {
  const auto [i, n] = place;
  if (op.frequencies == AxialFrequencies::kLang) return Power(op.base, -i, n);
  if (op.frequencies == AxialFrequencies::kConstant || n == 0) return 1.0;
  if (n == 1) return kPi;
  const DoubleDouble part = DoubleDouble(i) / static_cast<double>(n - 1);
  return kPi * (part * (op.max_freq / 2) - part + 1.0);
}

// Rotates the windows of x one after another. The first rotation reads x, the others are in place.
template <class T, class Table>
void RotateWindows(Rotation r, size_t windows, const T* x, const Table* cosine, const Table* sine,
                   T* y) {
  const size_t pairs = r.R / 2;
  const Heads<const T> from = Dense(r, x);
  const Heads<T> to = Dense(r, y);
  r.R /= windows;
  for (size_t w = 0; w < windows; ++w, r.offset += r.R) {
    const RotaryTable<Table> table{cosine + w * r.R / 2, sine + w * r.R / 2,
                                   static_cast<ptrdiff_t>(r.S * pairs),
                                   static_cast<ptrdiff_t>(pairs)};
    const Heads<const T> again{y, to.batch, to.head, to.row};
    Rotate<T, Table>(r, w == 0 ? from : again, table, to);
  }
}

StoredTensors RunRopeAxial(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeAxial>(c);
  const Tensor<double> position = ValuesOf(inputs[1]);
  const Rotation rotation = RotationOf(op, inputs[0].shape());
  const size_t P = op.PairsPerAxis(), pairs = rotation.R / 2;
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    using Table = Computed<T>;
    std::vector<Table> cosine(rotation.B * rotation.S * pairs), sine(cosine.size());
    for (size_t a = 0; a < position.shape[1]; ++a) {
      std::vector<size_t> columns(P);
      std::iota(columns.begin(), columns.end(), a * P);
      Frequencies own;
      for (size_t j = 0; j < P; ++j)
        own.of_pair.push_back(FrequencyOf(op, op.FrequencyIndexOf(a, j)));
      FillAxis<Table>(PositionsOfAxis(position, a).data, own, columns, pairs, cosine.data(),
                      sine.data());
    }
    RotateWindows<T, Table>(rotation, op.Windows(), inputs[0].As<T>(), cosine.data(), sine.data(),
                            y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeAxial>() {
  return {DeclinesMixedTypes, RunRopeAxial};
}

}  // namespace sextant::fast
