#include "reference/attention/attention.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

void Attention::Check() const {
  AttentionAttributes::Check();
  if (add_bias && !with.Has("bias"))
    throw Error("add_bias=", PrintValue(add_bias),
                " is set, but there is no bias: expected with=bias");
}

template <class Real>
void Attention::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                           const Tensor<Real>* bias, const Tensor<Real>* sink, Tensor<Real>& y,
                           Tensor<Real>& lse) const {
  AttentionRows<Real>(*this,
                      {.q = q, .k = k, .v = v, .bias = bias, .sink = sink, .add_bias = add_bias})
      .Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<Attention>() {
  return Wrap<Attention>();
}

}  // namespace sextant
