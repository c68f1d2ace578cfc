#include "reference/layer/rms_norm_quantize.h"

#include <utility>

#include "reference/prove/rounding_operation.h"

namespace sextant {

template <class Real>
Tensor<Real> RmsNormQuantize::RowsOf(const Tensor<Real>& x, const Tensor<Real>* residual) {
  Tensor<Real> rows = x;
  rows.shape = {x.shape[0], x.shape[1] * x.shape[2]};
  const ScopedStep at(Step::kKeep);
  for (size_t i = 0; residual && i < rows.data.size(); ++i)
    rows.data[i] = rows.data[i] + residual->data[i];
  return rows;
}

template <class Real>
void RmsNormQuantize::operator()(const Tensor<Real>& x, const Tensor<Real>& weight,
                                 const Tensor<Real>* residual, const Tensor<Real>* tensor_scale,
                                 Tensor<Real>& scale, Tensor<Real>& codes) const {
  const Tensor<Real> rows = RowsOf(x, residual);
  Tensor<Real> y(rows.shape);
  RmsNorm::operator()(rows, weight, y);
  y.shape = {x.shape[0], 1, x.shape[1], x.shape[2]};
  QuantizeStored(std::move(y), tensor_scale, scale, codes);
}

template <>
std::unique_ptr<Operation> MakeOperation<RmsNormQuantize>() {
  return std::make_unique<RoundingOperation<RmsNormQuantize>>();
}

}  // namespace sextant
