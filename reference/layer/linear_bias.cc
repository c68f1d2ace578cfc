#include "reference/layer/linear_bias.h"

#include "reference/case/operation.h"
#include "reference/number/matrix_product.h"

namespace sextant {

template <class Real>
void LinearBias::operator()(const Tensor<Real>& x, const Tensor<Real>& weight,
                            const Tensor<Real>& bias, Tensor<Real>& y) const {
  MultiplyByRows(x, weight, y);
  const ScopedStep at(Step::kBias);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = y.data[i] + bias(i % bias.shape[0]);
}

template void LinearBias::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                     const Tensor<Interval>&, Tensor<Interval>&) const;
template void LinearBias::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                     const Tensor<Counted>&, Tensor<Counted>&) const;
template void LinearBias::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                     const Tensor<Rounded>&, Tensor<Rounded>&) const;
template void LinearBias::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                     const Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<LinearBias>() {
  return Wrap<LinearBias>();
}

}  // namespace sextant
