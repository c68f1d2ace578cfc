#include "reference/attention/cross_attention.h"

#include "reference/attention/multi_head.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void CrossAttention::operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                                const Tensor<Real>& wq, const Tensor<Real>& bq,
                                const Tensor<Real>& wk, const Tensor<Real>& bk,
                                const Tensor<Real>& wv, const Tensor<Real>& bv,
                                const Tensor<Real>& wo, const Tensor<Real>& bo, Tensor<Real>& y,
                                Tensor<Real>& q, Tensor<Real>& k, Tensor<Real>& v,
                                Tensor<Real>& mean) const {
  y = MultiHead<Real>(
      MakeAttention(), x, memory,
      {.wq = wq, .bq = bq, .wk = wk, .bk = bk, .wv = wv, .bv = bv, .wo = wo, .bo = bo},
      {.q = q, .k = k, .v = v, .mean = mean});
}

template <>
std::unique_ptr<Operation> MakeOperation<CrossAttention>() {
  return Wrap<CrossAttention>();
}

}  // namespace sextant
