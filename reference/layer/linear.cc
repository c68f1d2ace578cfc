#include "reference/layer/linear.h"

#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void Linear::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  const auto rows = [](const Tensor<Real>& of) {
    std::vector<DotOperand<Real>> all;
    for (size_t i = 0; i < of.shape[0]; ++i) {
      all.emplace_back(std::span(of.data).subspan(i * of.shape[1], of.shape[1]));
    }
    return all;
  };
  const std::vector<DotOperand<Real>> of_x = rows(x), of_weight = rows(weight);
  for (size_t n = 0; n < of_x.size(); ++n) {
    for (size_t f = 0; f < of_weight.size(); ++f) y(n, f) = Dot(of_x[n], of_weight[f]);
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
