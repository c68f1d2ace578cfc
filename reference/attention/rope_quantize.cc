#include "reference/attention/rope_quantize.h"

#include <utility>

#include "reference/prove/rounding_operation.h"

namespace sextant {

template <class Real>
void RopeQuantize::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                              const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                              Tensor<Real>& codes) const {
  Tensor<Real> y(x.shape);
  Rope::operator()(x, position, y);
  y.shape = {CountOf(scale.shape), 1, 1, x.shape[3]};
  QuantizeStored(std::move(y), tensor_scale, scale, codes);
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeQuantize>() {
  return std::make_unique<RoundingOperation<RopeQuantize>>();
}

}  // namespace sextant
