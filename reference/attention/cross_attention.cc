#include "reference/attention/cross_attention.h"

#include "reference/attention/multi_head.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void CrossAttention::operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                                const MultiHeadWeights<Real>& weights, Tensor<Real>& y,
                                Tensor<Real>& q, Tensor<Real>& k, Tensor<Real>& v,
                                Tensor<Real>& mean) const {
  y = MultiHead<Real>(MakeAttention(), x, memory, weights, {.q = q, .k = k, .v = v, .mean = mean});
}

template <>
std::unique_ptr<Operation> MakeOperation<CrossAttention>() {
  return Wrap<CrossAttention>();
}

}  // namespace sextant
