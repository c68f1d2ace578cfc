#include "reference/attention/attention_bias.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void AttentionBias::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                               const Tensor<Real>& bias, Tensor<Real>& y, Tensor<Real>& lse) const {
  AttentionRows<Real>(*this, {.q = q, .k = k, .v = v, .bias = &bias, .scale_bias = scale_bias})
      .Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<AttentionBias>() {
  return Wrap<AttentionBias>();
}

}  // namespace sextant
