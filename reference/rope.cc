#include "reference/rope.h"

#include "reference/operation.h"
#include "reference/rope_table.h"

namespace sextant {

template <class Real>
void Rope::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                      Tensor<Real>& y) const {
  const auto half = static_cast<size_t>(R.value / 2);
  Tensor<Real> inv_freq({half}), factor;
  Frequencies()(inv_freq, factor);
  const Shape table = {position.shape[0], position.shape[1], half};
  Tensor<Real> cos(table), sin(table);
  RopeTable::Fill(position, inv_freq, factor(), cos, sin);
  Rotation()(x, cos, sin, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<Rope>() {
  return Wrap<Rope>();
}

}  // namespace sextant
