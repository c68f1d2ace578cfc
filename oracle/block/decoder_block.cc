#include "reference/block/decoder_block.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/block/block_defects.h"
#include "oracle/block/block_laws.h"
#include "oracle/defect/oracle.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {
namespace {

struct Mistaken : DecoderBlock {
  BlockMistake mistake{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& attn_norm, const Tensor<Real>& wq, const Tensor<Real>& wk,
                  const Tensor<Real>& wv, const Tensor<Real>& wo, const Tensor<Real>& mlp_norm,
                  const Tensor<Real>& gate, const Tensor<Real>& up, const Tensor<Real>& down,
                  Tensor<Real>& y, Tensor<Real>& normed, Tensor<Real>& q_rotated,
                  Tensor<Real>& k_rotated, Tensor<Real>& attention_out, Tensor<Real>& middle,
                  Tensor<Real>& hidden) const {
    const BlockWeights<Real> weights{attn_norm, wq, wk, wv, wo, mlp_norm, gate, up, down};
    RunMistaken<Real>(mistake, *this, x, position, weights,
                      {y, normed, q_rotated, k_rotated, attention_out, middle, hidden});
  }
};

std::vector<Defect> FormulaDefects() {
  std::vector<Defect> all;
  for (const NamedBlockMistake& each : kBlockMistakes)
    all.push_back(MutatedFormula<Mistaken>(each.name, each.why, each.mistake));
  return all;
}

}  // namespace

template <>
Oracle MakeOracle<DecoderBlock>() {
  return {.properties = BlockLaws(),
          .defects = Joined<Defect>(
              {FormulaDefects(), BlockInputDefects(), DynamicDefects(),
               Without({"length_of_first_batch", "length_one_more"}, MaskDefects())})};
}

}  // namespace sextant::oracle
