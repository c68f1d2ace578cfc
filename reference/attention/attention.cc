#include "reference/attention/attention.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void Attention::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                           Tensor<Real>& y, Tensor<Real>& lse) const {
  AttentionRows<Real>(*this, {.q = q, .k = k, .v = v}).Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<Attention>() {
  return Wrap<Attention>();
}

}  // namespace sextant
