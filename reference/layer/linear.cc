#include "reference/layer/linear.h"

#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void Linear::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  const auto rows = [](const Tensor<Real>& matrix) {
    std::vector<DotOperand<Real>> all;
    for (size_t i = 0; i < matrix.shape[0]; ++i) {
      all.emplace_back(std::span(matrix.data).subspan(i * matrix.shape[1], matrix.shape[1]));
    }
    return all;
  };
  const std::vector<DotOperand<Real>> x_rows = rows(x), weight_rows = rows(weight);
  for (size_t n = 0; n < x_rows.size(); ++n) {
    for (size_t f = 0; f < weight_rows.size(); ++f) y(n, f) = Dot(x_rows[n], weight_rows[f]);
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
