#include "reference/block/encoder_block.h"

#include "reference/attention/multi_head.h"
#include "reference/case/operation.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {
namespace {

template <class Real>
struct Affine {
  const Tensor<Real>&weight, &bias;
};

template <class Real>
Tensor<Real> Normed(const LayerNorm& norm, const Tensor<Real>& x, const Affine<Real>& w) {
  Tensor<Real> y(x.shape);
  norm(x, w.weight, w.bias, y);
  return Stored(std::move(y));
}

// w2 act(w1 x + b1) + b2. `hidden` is already allocated with its final shape.
template <class Real>
Tensor<Real> FeedForwardBranch(ActivationKind kind, const Tensor<Real>& x,
                               const Affine<Real>& first, const Affine<Real>& second,
                               Tensor<Real>& hidden) {
  hidden = Stored(Projected(x, first.weight, first.bias));
  const auto make = [kind]<class Number>(std::type_identity<Number>) {
    return ActivationFunction<Number>(kind);
  };
  SetEach(hidden.data, make, hidden.data);
  return Stored(Projected(Intermediate(hidden), second.weight, second.bias));
}

}  // namespace

void EncoderBlock::Check() const {
  Norm().Check();
  MakeAttention().Check();
}

ActivationKind EncoderBlock::FeedForwardActivation() const {
  return kind == BlockActivation::kRelu   ? ActivationKind::kRelu
         : kind == BlockActivation::kGelu ? ActivationKind::kGelu
                                          : ActivationKind::kGeluTanh;
}

template <class Real>
void EncoderBlock::operator()(const Tensor<Real>& x, const Tensor<Real>& position_table,
                              const EncoderWeights<Real>& w, Tensor<Real>& y,
                              Tensor<Real>& attention_out, Tensor<Real>& middle,
                              Tensor<Real>& hidden) const {
  const bool pre = placement == NormPlacement::kPre;
  const Affine<Real> norm1{w.norm1_weight, w.norm1_bias}, norm2{w.norm2_weight, w.norm2_bias};
  const Tensor<Real> u = StoredSum(x, position_table);
  const Tensor<Real> attention_in = pre ? Normed(Norm(), u, norm1) : u;
  const size_t S = x.shape[0];
  const auto heads = static_cast<size_t>(H.value), key_heads = static_cast<size_t>(K.value);
  const size_t D = heads == 0 ? 0 : w.heads.wq.shape[0] / heads;
  Tensor<Real> q({heads, S, D}), k({key_heads, S, D}), v({key_heads, S, D}), mean({S, heads * D});
  attention_out = MultiHead<Real>(MakeAttention(), attention_in, attention_in, w.heads,
                                  {.q = q, .k = k, .v = v, .mean = mean});
  middle = StoredSum(u, Intermediate(attention_out));
  if (!pre) middle = Normed(Norm(), middle, norm1);
  const Tensor<Real> h = Intermediate(middle);
  const Tensor<Real> feed_in = pre ? Normed(Norm(), h, norm2) : h;
  y = StoredSum(h, FeedForwardBranch<Real>(FeedForwardActivation(), feed_in, {w.w1, w.b1},
                                           {w.w2, w.b2}, hidden));
  if (!pre) y = Normed(Norm(), y, norm2);
}

template <>
std::unique_ptr<Operation> MakeOperation<EncoderBlock>() {
  return Wrap<EncoderBlock>();
}

}  // namespace sextant
