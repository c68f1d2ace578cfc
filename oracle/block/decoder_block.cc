#include "reference/block/decoder_block.h"

#include <algorithm>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/token_properties.h"
#include "oracle/block/block_defects.h"
#include "oracle/block/block_properties.h"
#include "oracle/block/measured/rotated_heads.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {
namespace {

struct MutatedDecoderBlock : DecoderBlock {
  BlockMutation mutation{};
  std::optional<RotationOfHeads> rotation = {};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const BlockWeights<Real>& weights, const BlockOutputs<Real>& outputs) const {
    RunMutated<Real>(mutation, *this, x, position, weights, outputs, rotation);
  }
};

// With eps 0, normalised queries and keys do not depend on the scale of wq and wk.
Comparisons CheckQkScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (TextOf(c, "qk_norm").empty()) return {};
  const Tensors scaled = Multiplied(Multiplied(inputs, {"wq"}, 4), {"wk"}, 0.5);
  return SameTokens(c.With("eps=0"), inputs, scaled, ask);
}

std::vector<Defect> DecoderBlockFormulaDefects() {
  return MutatedFormulas<MutatedDecoderBlock>(Joined<NamedMutation<BlockMutation>>(
      {BlockMutations(),
       {
           {"qk_norm_after_rotation", "queries and keys are rotated before they are normalised",
            BlockMutation::kQkNormAfterRotation},
           {"keys_not_normed", "qk_norm is applied to the queries only",
            BlockMutation::kKeysNotNormed},
           {"post_norm_of_sum", "the second norm of placement=sandwich comes after the sum",
            BlockMutation::kPostNormOfSum},
       }}));
}

// Changes the norm weights of queries [H*D] and of keys [K*D].
Defect QkNorms(std::string name, std::string why,
               bool (*change)(const Case& c, std::vector<double>& weights)) {
  return ChangedInputs(std::move(name), std::move(why), [change](const Case& c, Tensors& inputs) {
    if (!HasInput(inputs, "q_norm")) return false;
    const bool of_queries = change(c, InputNamed(inputs, "q_norm").data);
    const bool of_keys = change(c, InputNamed(inputs, "k_norm").data);
    return of_queries || of_keys;
  });
}

// Norm weights for the other pairing: a converter permutes only the rows of wq and wk.
bool InOtherPairing(const Case& c, std::vector<double>& weights) {
  const size_t D = ExtentOf(c, "D"), R = ExtentOf(c, "R");
  const auto offset = static_cast<size_t>(NumberOf(c, "offset", 0));
  Pairing own{};
  ParseValue(TextOf(c, "pairing"), own);
  const Pairing other = own == Pairing::kHalf ? Pairing::kInterleaved : Pairing::kHalf;
  const std::vector<double> from = weights;
  for (size_t head = offset; head < weights.size(); head += D) {
    for (size_t k = 0; k < R / 2; ++k) {
      const auto [i, j] = ChannelsOf(own, k, R);
      const auto [at_i, at_j] = ChannelsOf(other, k, R);
      weights[head + at_i] = from[head + i];
      weights[head + at_j] = from[head + j];
    }
  }
  return weights != from;
}

bool OfFirstHead(const Case& c, std::vector<double>& weights) {
  const std::vector<double> from = weights;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = from[i % ExtentOf(c, "D")];
  return weights != from;
}

bool Ignored(const Case& c, std::vector<double>& weights) {
  std::ranges::fill(weights, TextOf(c, "unit_offset") == "true" ? 0 : 1);
  return true;
}

std::vector<Defect> NormDefects() {
  return {
      QkNorms("qk_norm_of_other_pairing",
              "rows of wq and wk are permuted for the other pairing, the weights of their norms "
              "are not",
              InOtherPairing),
      QkNorms("qk_norm_of_first_head", "every head uses the norm weights of head 0", OfFirstHead),
      QkNorms("qk_norm_weights_ignored", "queries and keys are normalised without weights",
              Ignored),
      ExchangedInputs("q_norm_exchanged_with_k_norm",
                      "the norm weights of queries and keys are swapped", {{"q_norm", "k_norm"}}),
      ExchangedInputs("post_norms_exchanged",
                      "the weights of the second norms of placement=sandwich are swapped",
                      {{"attn_post_norm", "mlp_post_norm"}}),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<DecoderBlock>() {
  return {.properties = Joined<Property>(
              {BlockProperties(),
               {{"qk_norm_ignores_scale",
                 "with qk_norm and eps 0, a factor of wq or wk changes nothing", CheckQkScale}}}),
          .defects = Joined<Defect>(
              {DecoderBlockFormulaDefects(), NormDefects(), BlockInputDefects(), DynamicDefects(),
               RemoveDefects({"length_of_first_batch", "length_one_more"}, MaskDefects())}),
          .measurements = {MeasureRotatingBlock<MutatedDecoderBlock>}};
}

}  // namespace sextant::oracle
