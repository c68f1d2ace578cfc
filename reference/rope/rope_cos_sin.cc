#include "reference/rope/rope_cos_sin.h"

#include "reference/case/operation.h"
#include "reference/number/real.h"
#include "reference/rope/rope_table.h"

namespace sextant {

template <class Real>
void RopeCosSin::operator()(const Tensor<double>& position, Tensor<Real>& cos,
                            Tensor<Real>& sin) const {
  const auto pairs = static_cast<size_t>(R.value / 2);
  Tensor<Real> inv_freq({pairs}), amplitude;
  Frequencies()(inv_freq, amplitude);
  Tensor<Real> half_cos({position.shape[0], position.shape[1], pairs}), half_sin(half_cos.shape);
  RopeTable::Fill(position, inv_freq, amplitude(), half_cos, half_sin);
  Arrange(half_cos, cos);
  Arrange(half_sin, sin);
}

template <class Real>
void RopeCosSin::Arrange(const Tensor<Real>& half, Tensor<Real>& table) const {
  const size_t pairs = half.shape[2], width = table.shape[2];
  for (size_t i = 0; i < half.data.size(); ++i) {
    const auto [first, second] = ColumnsOf(layout, i % pairs, pairs);
    const size_t row = i / pairs * width;
    table.data[row + first] = table.data[row + second] = half.data[i];
  }
}

template void RopeCosSin::Arrange(const Tensor<Counted>&, Tensor<Counted>&) const;
template void RopeCosSin::Arrange(const Tensor<Rounded>&, Tensor<Rounded>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<RopeCosSin>() {
  return Wrap<RopeCosSin>();
}

}  // namespace sextant
