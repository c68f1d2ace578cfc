#include "reference/block/decoder.h"

#include "reference/block/decoder_formula.h"
#include "reference/case/operation.h"

namespace sextant {

void Decoder::Check() const {
  DecoderBlockAttributes::Check();
  if (logit_cap && !(*logit_cap > 0))
    throw Error("logit_cap is ", *logit_cap, ", expected more than 0");
}

template <class Real>
void Decoder::operator()(const Tensor<double>& token, const Tensor<double>& position,
                         const Tensor<Real>& table, const Tensor<Real>& attn_norm,
                         const Weights<Real>& wq, const Weights<Real>& wk, const Weights<Real>& wv,
                         const Weights<Real>& wo, const Tensor<Real>& mlp_norm,
                         const Weights<Real>& gate, const Weights<Real>& up,
                         const Weights<Real>& down, const Tensor<Real>& last_norm,
                         const Weights<Real>& head, Tensor<Real>& logits,
                         Tensor<Real>& states) const {
  const StackedWeights<Real> weights{.attn_norm = attn_norm,
                                     .wq = wq,
                                     .wk = wk,
                                     .wv = wv,
                                     .wo = wo,
                                     .mlp_norm = mlp_norm,
                                     .gate = gate,
                                     .up = up,
                                     .down = down};
  const auto run = [&](const Tensor<Real>& x, const BlockWeights<Real>& w,
                       const BlockTensors<Real>& out) {
    DecoderBlockFormula<Real>(*this, position, w, out).Run(x);
  };
  const Tensor<Real> last = RunBlocks(*this, token, table, weights, states, run);
  ToLogits(*this, Normed(Norm(), last, last_norm), head, logits);
}

template <>
std::unique_ptr<Operation> MakeOperation<Decoder>() {
  return Wrap<Decoder>();
}

}  // namespace sextant
