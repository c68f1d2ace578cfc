#include "reference/layer/linear.h"

#include "reference/case/operation.h"
#include "reference/number/matrix_product.h"

namespace sextant {

template <class Real>
void Linear::operator()(const Tensor<Real>& x, const Weights<Real>& weight,
                        const Tensor<Real>* bias, Tensor<Real>& y) const {
  MultiplyByWeights(x, weight, y);
  if (bias) AddToRows(*bias, y);
}

template void Linear::operator()(const Tensor<Interval>&, const Weights<Interval>&,
                                 const Tensor<Interval>*, Tensor<Interval>&) const;
template void Linear::operator()(const Tensor<Counted>&, const Weights<Counted>&,
                                 const Tensor<Counted>*, Tensor<Counted>&) const;
template void Linear::operator()(const Tensor<Rounded>&, const Weights<Rounded>&,
                                 const Tensor<Rounded>*, Tensor<Rounded>&) const;
template void Linear::operator()(const Tensor<BoostReal>&, const Weights<BoostReal>&,
                                 const Tensor<BoostReal>*, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<Linear>() {
  return Wrap<Linear>();
}

}  // namespace sextant
