#include "reference/layer/gated_quantize.h"

#include <utility>

#include "reference/prove/rounding_operation.h"

namespace sextant {

template <class Real>
void GatedQuantize::operator()(const Tensor<Real>& gate, const Tensor<Real>& up,
                               const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                               Tensor<Real>& codes) const {
  Tensor<Real> y(gate.shape);
  Gated::operator()(gate, up, y);
  y.shape = {gate.shape[0], 1, gate.shape[1], gate.shape[2]};
  QuantizeStored(std::move(y), tensor_scale, scale, codes);
}

template <>
std::unique_ptr<Operation> MakeOperation<GatedQuantize>() {
  return std::make_unique<RoundingOperation<GatedQuantize>>();
}

}  // namespace sextant
