#include "reference/attention/attention_sink.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void AttentionSink::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                               const Tensor<Real>& sink, Tensor<Real>& y, Tensor<Real>& lse) const {
  AttentionRows<Real>(*this, {.q = q, .k = k, .v = v, .sink = &sink}).Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<AttentionSink>() {
  return Wrap<AttentionSink>();
}

}  // namespace sextant
