#include "fast/rope.h"

#include "fast/kernel.h"
#include "fast/rope_frequencies.h"
#include "fast/typed.h"
#include "reference/rope.h"

namespace sextant::fast {

Tensors TurnByPosition(const Turning& turning, DType dtype, const Tensor<double>& x,
                       const Tensor<double>& position) {
  return WithElement(dtype, [&]<class T>() -> Tensors {
    using Table = Computed<T>;
    const Rotation& r = turning.rotation;
    std::vector<Table> cosine(position.data.size() * turning.frequency.size()), sine(cosine.size());
    FillTable<Table>(position.data, turning.frequency, turning.amplitude, cosine.data(),
                     sine.data());
    const std::vector<T> from = ToElements<T>(x);
    std::vector<T> to(from.size());
    const RotaryTable<Table> table = DenseTable<Table>(r, cosine.data(), sine.data());
    Rotate<T, Table>(r, Dense(r, from.data()), table, Dense(r, to.data()));
    return {ToTensor("y", x.shape, to)};
  });
}

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Rope>(c);
  const auto R = static_cast<size_t>(op.R.value);
  const Turning turning{{.B = ExtentOf(c, "B"),
                         .H = ExtentOf(c, "H"),
                         .S = ExtentOf(c, "S"),
                         .D = ExtentOf(c, "D"),
                         .R = R,
                         .offset = static_cast<size_t>(op.offset),
                         .pairing = op.pairing,
                         .direction = op.direction},
                        Frequencies(op.base, op.scaling, R)};
  return TurnByPosition(turning, c.dtype(), inputs[0].values, inputs[1].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<Rope>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
