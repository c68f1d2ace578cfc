#include "reference/block/decoder_block.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/block/block_defects.h"
#include "oracle/block/block_properties.h"
#include "oracle/block/measured/rotated_heads.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {
namespace {

struct MutatedDecoderBlock : DecoderBlock {
  BlockMutation mutation{};
  std::optional<RotationOfHeads> rotation = {};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& attn_norm, const Weights<Real>& wq, const Weights<Real>& wk,
                  const Weights<Real>& wv, const Weights<Real>& wo, const Tensor<Real>& mlp_norm,
                  const Weights<Real>& gate, const Weights<Real>& up, const Weights<Real>& down,
                  Tensor<Real>& y, Tensor<Real>& normed, Tensor<Real>& q_rotated,
                  Tensor<Real>& k_rotated, Tensor<Real>& attention_out, Tensor<Real>& middle,
                  Tensor<Real>& hidden) const {
    const BlockWeights<Real> weights{.attn_norm = attn_norm,
                                     .wq = wq,
                                     .wk = wk,
                                     .wv = wv,
                                     .wo = wo,
                                     .mlp_norm = mlp_norm,
                                     .gate = gate,
                                     .up = up,
                                     .down = down};
    RunMutated<Real>(mutation, *this, x, position, weights,
                     {.y = y,
                      .normed = normed,
                      .q_rotated = q_rotated,
                      .k_rotated = k_rotated,
                      .attention_out = attention_out,
                      .middle = middle,
                      .hidden = hidden},
                     rotation);
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<DecoderBlock>() {
  return {.properties = BlockProperties(),
          .defects = Joined<Defect>(
              {MutatedFormulas<MutatedDecoderBlock>(BlockMutations()), BlockInputDefects(),
               DynamicDefects(),
               RemoveDefects({"length_of_first_batch", "length_one_more"}, MaskDefects())}),
          .measurements = {MeasureRotatingBlock<MutatedDecoderBlock>}};
}

}  // namespace sextant::oracle
