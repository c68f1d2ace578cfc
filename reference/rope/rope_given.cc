#include "reference/rope/rope_given.h"

#include "reference/case/operation.h"
#include "reference/rope/rope_rotate.h"
#include "reference/rope/rope_table.h"

namespace sextant {

void RopeGiven::Check() const { CheckWindow(offset, R.value, D.value); }

template <class Real>
void RopeGiven::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                           const Tensor<Real>& inv_freq, Tensor<Real>& y) const {
  const Shape table = {position.shape[0], position.shape[1], inv_freq.shape[0]};
  Tensor<Real> cos(table), sin(table);
  RopeTable{.attention_factor = attention_factor}(position, inv_freq, cos, sin);
  RopeRotate{.pairing = pairing, .offset = offset, .direction = direction}(x, cos, sin, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeGiven>() {
  return Wrap<RopeGiven>();
}

}  // namespace sextant
