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

namespace {

// x[B,heads,rows,width] by scale[B,K]; key_head(h) is that of head h, both of the slice.
template <class Real>
Tensor<Real> Scaled(const Tensor<Real>& x, const Tensor<Real>& scale, const auto& key_head) {
  const ScopedStep at(Step::kScale);
  Tensor<Real> y = x;
  const size_t H = x.shape[1], count = x.shape[2] * x.shape[3];
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = x.data[i] * scale(i / (H * count), key_head(i / count % H));
  return y;
}

}  // namespace

template <class Real>
ScaledOperands<Real>::ScaledOperands(const AttentionAttributes& op, const Tensor<Real>& q,
                                     const Tensor<Real>& k, const Tensor<Real>& v,
                                     const Tensor<Real>* q_scale, const Tensor<Real>* k_scale,
                                     const Tensor<Real>* v_scale)
    : q_(q), k_(k), v_(v) {
  const auto of_query = [&](size_t h) {
    return op.KeyHeadOf(SliceBegin("H") + h) - SliceBegin("K");
  };
  const auto itself = [](size_t g) { return g; };
  if (q_scale) scaled_q_ = Scaled(q, *q_scale, of_query);
  if (k_scale) scaled_k_ = Scaled(k, *k_scale, itself);
  if (v_scale) scaled_v_ = Scaled(v, *v_scale, itself);
}

template class ScaledOperands<Interval>;
template class ScaledOperands<Counted>;
template class ScaledOperands<Rounded>;
template class ScaledOperands<BoostReal>;

template <class Real>
void Attention::operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                           const Tensor<Real>* bias, const Tensor<Real>* sink,
                           const Tensor<Real>* q_scale, const Tensor<Real>* k_scale,
                           const Tensor<Real>* v_scale, Tensor<Real>& y, Tensor<Real>& lse) const {
  const ScaledOperands<Real> of(*this, q, k, v, q_scale, k_scale, v_scale);
  AttentionRows<Real>(
      *this,
      {.q = of.q(), .k = of.k(), .v = of.v(), .bias = bias, .sink = sink, .add_bias = add_bias})
      .Answer(y, lse);
}

template <>
std::unique_ptr<Operation> MakeOperation<Attention>() {
  return Wrap<Attention>();
}

}  // namespace sextant
