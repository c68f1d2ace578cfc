#include "reference/rope/rope.h"

#include "reference/case/operation.h"
#include "reference/rope/rope_rotated.h"

namespace sextant {

template <class Real>
void Rope::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                      Tensor<Real>& y) const {
  PairRotation<Real>(*this, position)(x, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<Rope>() {
  return Wrap<Rope>();
}

}  // namespace sextant
