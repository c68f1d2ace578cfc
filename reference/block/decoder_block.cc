#include "reference/block/decoder_block.h"

#include "reference/block/decoder_block_formula.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void DecoderBlock::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                              const Tensor<Real>& attn_norm, const Weights<Real>& wq,
                              const Weights<Real>& wk, const Weights<Real>& wv,
                              const Weights<Real>& wo, const Tensor<Real>& mlp_norm,
                              const Weights<Real>& gate, const Weights<Real>& up,
                              const Weights<Real>& down, Tensor<Real>& y, Tensor<Real>& normed,
                              Tensor<Real>& q_rotated, Tensor<Real>& k_rotated,
                              Tensor<Real>& attention_out, Tensor<Real>& middle,
                              Tensor<Real>& hidden) const {
  DecoderBlockFormula<Real>(*this, position,
                            {.attn_norm = attn_norm,
                             .wq = wq,
                             .wk = wk,
                             .wv = wv,
                             .wo = wo,
                             .mlp_norm = mlp_norm,
                             .gate = gate,
                             .up = up,
                             .down = down},
                            {.y = y,
                             .normed = normed,
                             .q_rotated = q_rotated,
                             .k_rotated = k_rotated,
                             .attention_out = attention_out,
                             .middle = middle,
                             .hidden = hidden})
      .Run(x);
}

template <>
std::unique_ptr<Operation> MakeOperation<DecoderBlock>() {
  return Wrap<DecoderBlock>();
}

}  // namespace sextant
