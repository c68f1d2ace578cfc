#include "reference/attention.h"

#include "reference/attention_rows.h"
#include "reference/operation.h"

namespace sextant {

template <class Real>
void Attention::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                           Tensor<Real>& y, Tensor<Real>& lse) const {
  Attend<Real>(*this, {.q = q, .k = k, .v = v}, y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<Attention>() {
  return Wrap<Attention>();
}

}  // namespace sextant
