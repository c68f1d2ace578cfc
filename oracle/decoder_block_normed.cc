#include "reference/decoder_block_normed.h"

#include "oracle/block_defects.h"
#include "oracle/block_laws.h"
#include "oracle/oracle.h"

namespace sextant::oracle {
namespace {

struct Mistaken : DecoderBlockNormed {
  BlockMistake mistake{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& attn_norm, const Tensor<Real>& wq, const Tensor<Real>& wk,
                  const Tensor<Real>& wv, const Tensor<Real>& wo, const Tensor<Real>& mlp_norm,
                  const Tensor<Real>& gate, const Tensor<Real>& up, const Tensor<Real>& down,
                  const Tensor<Real>& q_norm, const Tensor<Real>& k_norm,
                  const Tensor<Real>& attn_post_norm, const Tensor<Real>& mlp_post_norm,
                  Tensor<Real>& y, Tensor<Real>& normed, Tensor<Real>& q_rotated,
                  Tensor<Real>& k_rotated, Tensor<Real>& attention_out, Tensor<Real>& middle,
                  Tensor<Real>& hidden) const {
    const BlockWeights<Real> weights{
        attn_norm, wq,   wk,      wv,      wo,      mlp_norm,        gate,
        up,        down, qk_norm, &q_norm, &k_norm, &attn_post_norm, &mlp_post_norm};
    MistakenBlock<Real>(mistake, *this, weights)
        .Run(x, position, {y, normed, q_rotated, k_rotated, attention_out, middle, hidden});
  }
};

std::vector<Defect> FormulaDefects() {
  std::vector<Defect> all;
  for (const NamedBlockMistake& each : kBlockMistakes)
    all.push_back(MutatedFormula<Mistaken>(each.name, each.why, each.mistake));
  all.push_back(MutatedFormula<Mistaken>("qk_norm_after_rotation",
                                         "queries and keys are rotated before they are normalised",
                                         BlockMistake::kQkNormAfterRotation));
  all.push_back(MutatedFormula<Mistaken>("post_norm_of_sum",
                                         "a sandwich's second norm is taken after adding",
                                         BlockMistake::kPostNormOfSum));
  return all;
}

}  // namespace

template <>
Oracle MakeOracle<DecoderBlockNormed>() {
  return {.properties = BlockLaws(),
          .defects = Joined<Defect>({FormulaDefects(), BlockInputDefects()})};
}

}  // namespace sextant::oracle
