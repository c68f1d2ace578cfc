#include "oracle/block/block_defects.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "oracle/attention/attention_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// Scores are divided by the root of another width, where no scale is asked for.
Defect ScaledBy(std::string name, std::string why, double (*width)(double M, double H, double D)) {
  return ChangedWord(std::move(name), std::move(why), [width](const Case& c) -> std::string {
    const auto extent = [&c](const char* letter) {
      return static_cast<double>(ExtentOf(c, letter));
    };
    const double of = width(extent("M"), extent("H"), extent("D"));
    if (!TextOf(c, "scale").empty() || !(of > 0) || std::isinf(of)) return "";
    return "scale=" + PrintValue(1 / std::sqrt(of));
  });
}

constexpr NamedMutation<BlockMutation> kMutations[] = {
    {"attention_residual_missing", "x is not added to what attention gives",
     BlockMutation::kNoAttentionResidual},
    {"feed_forward_residual_missing", "y is what the feed-forward gives alone",
     BlockMutation::kNoFeedForwardResidual},
    {"residual_of_normed", "the normalised x is added, not x itself",
     BlockMutation::kResidualOfNormed},
    {"attention_norm_missing", "attention has no norm before it, or behind it where it is due",
     BlockMutation::kNoAttentionNorm},
    {"feed_forward_norm_missing",
     "the feed-forward has no norm before it, or behind it where it is due",
     BlockMutation::kNoFeedForwardNorm},
    {"norm_of_sum", "x + A(x) is normalised, as in the first Transformer",
     BlockMutation::kNormOfSum},
    {"values_rotated", "the values are rotated too", BlockMutation::kValuesRotated},
    {"keys_not_rotated", "only the queries are rotated", BlockMutation::kKeysNotRotated},
    {"queries_not_rotated", "only the keys are rotated", BlockMutation::kQueriesNotRotated},
    {"queries_one_late", "the position is taken after the cache has grown (fla#766)",
     BlockMutation::kQueriesOneOn},
    {"rotated_by_head", "the rotation goes over the axis of heads, for want of a transposition",
     BlockMutation::kRotatedByHead},
    {"rotated_before_split",
     "one rotation over all H D channels, before the heads are split "
     "(ReaLLMASIC/ReaLLM-Forge#35)",
     BlockMutation::kRotatedBeforeSplit},
    {"heads_interleaved", "channels of the projections are dealt out to the heads in turn",
     BlockMutation::kHeadsInterleaved},
    {"heads_not_transposed", "heads are put together without moving tokens to the front",
     BlockMutation::kHeadsNotTransposed},
    {"key_heads_tiled", "query head h reads key head h mod K (onnx/onnx@062ee9228)",
     BlockMutation::kKeyHeadsTiled},
    {"self_masked", "a query does not see its own key (t < i)", BlockMutation::kSelfMasked},
    {"next_leaked", "a query sees the next key too (t <= i + 1)", BlockMutation::kNextLeaked},
    {"cap_before_scale", "scores are capped before they are scaled",
     BlockMutation::kCapBeforeScale},
    {"cap_after_mask", "masked scores become -c, not -infinity (onnx/onnx@fe30560bd)",
     BlockMutation::kCapAfterMask},
    {"cap_not_scaled_back", "tanh(score / c), not times c", BlockMutation::kCapNotScaledBack},
    {"mask_from_the_end", "the last token is taken for the last one that is no padding",
     BlockMutation::kMaskFromTheEnd},
    {"empty_rows_mean",
     "with a finite number for -infinity a token that reads none gets the mean of all values",
     BlockMutation::kMeanOfEmpty},
};

}  // namespace

std::vector<NamedMutation<BlockMutation>> BlockMutations() {
  return {std::begin(kMutations), std::end(kMutations)};
}

std::vector<Defect> BlockInputDefects() {
  return {
      LengthOneMore(),
      ClampedInput("negative_position_clamped", "a negative position is taken for 0", "position"),
      ExchangedInputs("gate_exchanged_with_up", "the other half goes through the activation",
                      {{"gate", "up"}}),
      ExchangedInputs("keys_and_values_exchanged",
                      "wk and wv are swapped, as when a fused weight is split in another order",
                      {{"wk", "wv"}}),
      ExchangedInputs("queries_and_keys_exchanged", "wq and wk are swapped", {{"wq", "wk"}}),
      ExchangedInputs("norms_exchanged", "the two norms' weights are swapped",
                      {{"attn_norm", "mlp_norm"}}),
      TransposedInput("wq_transposed", "wq is multiplied from the other side", "wq"),
      TransposedInput("wo_transposed", "wo is multiplied from the other side", "wo"),
      ChangedInput("positions_of_first", "every token stands where the first does", "position",
                   [](Tensor<double>& p) {
                     if (!p.data.empty()) std::ranges::fill(p.data, p.data[0]);
                   }),
      ScaledBy("scale_missing", "no 1/sqrt(D) (mlc-ai/mlc-llm#3426)",
               [](double, double, double) { return 1.0; }),
      ScaledBy("scale_by_width", "1/D in place of 1/sqrt(D)",
               [](double, double, double D) { return D * D; }),
      ScaledBy("scale_of_all_heads", "scores are divided by the root of H D",
               [](double, double H, double D) { return H * D; }),
      ScaledBy("scale_of_model",
               "scores are divided by the root of M/H, which is not the heads' own width "
               "(ggml-org/llama.cpp#8444)",
               [](double M, double H, double) { return M / H; }),
      ChangedRecipe("norms_in_bf16", "norms sum and divide in bf16 whatever the dtype",
                    "square=bf16 sum=bf16 rsqrt=bf16"),
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 whatever the dtype",
                    "softmax=bf16"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("intermediates_in_bf16", "tensors are handed on in bf16 whatever the dtype",
                    "keep=bf16"),
      ChangedRecipe("angle_in_bf16", "angles are computed in bf16", "angle=bf16"),
  };
}

}  // namespace sextant::oracle
