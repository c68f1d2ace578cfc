#include "reference/attention/rope_attention.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"
#include "reference/rope/rope_rotated.h"

namespace sextant {
template <class Real>
void RopeAttention::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                               const Tensor<double>& position_q, const Tensor<double>& position_k,
                               Tensor<Real>& y, Tensor<Real>& lse) const {
  const Tensor<Real> query = Rotated(*this, q, position_q), key = Rotated(*this, k, position_k);
  AttentionRows<Real>(*this, {.q = query, .k = key, .v = v}).Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeAttention>() {
  return Wrap<RopeAttention>();
}

}  // namespace sextant
