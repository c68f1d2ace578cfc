#include "reference/cross_attention.h"

#include "reference/multi_head.h"
#include "reference/operation.h"

namespace sextant {

void CrossAttention::Check() const { Attending().Check(); }

Attention CrossAttention::Attending() const {
  Attention attention;
  attention.scale = scale;
  attention.soft_cap = soft_cap;
  attention.key_length = key_length;
  attention.B.value = 1;
  attention.H = H;
  attention.K = K;
  attention.S = S;
  attention.T = T;
  return attention;
}

template <class Real>
void CrossAttention::operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                                const Tensor<Real>& wq, const Tensor<Real>& bq,
                                const Tensor<Real>& wk, const Tensor<Real>& bk,
                                const Tensor<Real>& wv, const Tensor<Real>& bv,
                                const Tensor<Real>& wo, const Tensor<Real>& bo, Tensor<Real>& y,
                                Tensor<Real>& q, Tensor<Real>& k, Tensor<Real>& v,
                                Tensor<Real>& mean) const {
  y = MultiHead<Real>(Attending(), x, memory, {wq, bq, wk, bk, wv, bv, wo, bo}, {q, k, v, mean});
}

template <>
std::unique_ptr<Operation> MakeOperation<CrossAttention>() {
  return Wrap<CrossAttention>();
}

}  // namespace sextant
