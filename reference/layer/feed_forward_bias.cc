#include "reference/layer/feed_forward_bias.h"

#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/layer/linear_bias.h"

namespace sextant {

template <class Real>
void FeedForwardBias::operator()(const Tensor<Real>& x, const Tensor<Real>& gate,
                                 const Tensor<Real>& gate_bias, const Tensor<Real>& up,
                                 const Tensor<Real>& up_bias, const Tensor<Real>& down,
                                 const Tensor<Real>& down_bias, Tensor<Real>& y,
                                 Tensor<Real>& hidden) const {
  Tensor<Real> gate_product(hidden.shape), up_product(hidden.shape);
  LinearBias()(x, gate, gate_bias, gate_product);
  LinearBias()(x, up, up_bias, up_product);
  Gated{.kind = kind}(Stored(std::move(gate_product)), Stored(std::move(up_product)), hidden);
  LinearBias()(Intermediate(hidden), down, down_bias, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<FeedForwardBias>() {
  return Wrap<FeedForwardBias>();
}

}  // namespace sextant
