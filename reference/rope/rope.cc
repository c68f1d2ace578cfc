#include "reference/rope.h"

#include "reference/operation.h"
#include "reference/rope_turned.h"

namespace sextant {

template <class Real>
void Rope::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                      Tensor<Real>& y) const {
  y = Turning<Real>(*this, position)(x);
}

template <>
std::unique_ptr<Operation> MakeOperation<Rope>() {
  return Wrap<Rope>();
}

}  // namespace sextant
