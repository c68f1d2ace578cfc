#include "reference/layer/linear.h"

#include <algorithm>

#include "reference/case/operation.h"
#include "reference/number/dot_rows.h"

namespace sextant {

template <class Real>
void Linear::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  const DotRows<Real> weights(weight.data, weight.shape[0]);
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const DotOperand<Real> row(std::span(x.data).subspan(n * x.shape[1], x.shape[1]));
    std::ranges::copy(weights.Times(row, 0, weights.size()),
                      y.data.begin() + static_cast<std::ptrdiff_t>(n * weights.size()));
  }
}

template void Linear::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                 Tensor<Interval>&) const;
template void Linear::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                 Tensor<Counted>&) const;
template void Linear::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                 Tensor<Rounded>&) const;
template void Linear::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                 Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<Linear>() {
  return Wrap<Linear>();
}

}  // namespace sextant
