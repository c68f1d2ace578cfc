#include "oracle/block/block_defects.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "oracle/attention/attention_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// Another scale for cases that do not set one: scores are divided by the root of another width.
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

constexpr NamedMutation<BlockMutation> kBlockMutations[] = {
    {"attention_residual_missing", "x is not added to the attention output",
     BlockMutation::kNoAttentionResidual},
    {"feed_forward_residual_missing", "the residual is not added to the feed-forward output",
     BlockMutation::kNoFeedForwardResidual},
    {"residual_of_normed", "the normalised x is added instead of x",
     BlockMutation::kResidualOfNormed},
    {"attention_norm_missing",
     "the norm of attention is missing, before it or (placement=branch) after it",
     BlockMutation::kNoAttentionNorm},
    {"feed_forward_norm_missing",
     "the norm of the feed-forward is missing, before it or (placement=branch) after it",
     BlockMutation::kNoFeedForwardNorm},
    {"norm_of_sum", "the norm comes after the sum x + A(x), as in the original Transformer",
     BlockMutation::kNormOfSum},
    {"values_rotated", "the values are rotated too", BlockMutation::kValuesRotated},
    {"keys_not_rotated", "only the queries are rotated", BlockMutation::kKeysNotRotated},
    {"queries_not_rotated", "only the keys are rotated", BlockMutation::kQueriesNotRotated},
    {"queries_one_late", "queries use the position after the cache has grown (fla#766)",
     BlockMutation::kQueriesOneOn},
    {"rotated_by_head", "the rotation runs over the axis of heads: a transposition is missing",
     BlockMutation::kRotatedByHead},
    {"rotated_before_split",
     "all H D channels are rotated as one head, before the heads are split "
     "(ReaLLMASIC/ReaLLM-Forge#35)",
     BlockMutation::kRotatedBeforeSplit},
    {"heads_interleaved", "the channels of the projections are assigned to the heads alternately",
     BlockMutation::kHeadsInterleaved},
    {"heads_not_transposed", "the heads are joined without moving the axis of tokens to the front",
     BlockMutation::kHeadsNotTransposed},
    {"key_heads_tiled", "query head h reads key head h mod K (onnx/onnx@062ee9228)",
     BlockMutation::kKeyHeadsTiled},
    {"self_masked", "a query does not see its own key (t < i)", BlockMutation::kSelfMasked},
    {"next_leaked", "a query sees the next key too (t <= i + 1)", BlockMutation::kNextLeaked},
    {"cap_before_scale", "scores are capped before they are scaled",
     BlockMutation::kCapBeforeScale},
    {"cap_after_mask",
     "the cap comes after the mask: masked scores are -c instead of -infinity "
     "(onnx/onnx@fe30560bd)",
     BlockMutation::kCapAfterMask},
    {"cap_not_scaled_back", "the score is tanh(score / c), not multiplied by c",
     BlockMutation::kCapNotScaledBack},
    {"mask_from_the_end", "the mask aligns the last query with the last key that is not padding",
     BlockMutation::kMaskFromTheEnd},
    {"empty_rows_mean",
     "masked scores are finite, so a token that reads none gets the mean of all values",
     BlockMutation::kMeanOfEmpty},
};

}  // namespace

std::vector<NamedMutation<BlockMutation>> BlockMutations() {
  return {std::begin(kBlockMutations), std::end(kBlockMutations)};
}

std::vector<Defect> BlockInputDefects() {
  return {
      LengthOneMore(),
      ClampedInput("negative_position_clamped", "a negative position is replaced by 0", "position"),
      ExchangedInputs("gate_exchanged_with_up", "up is activated instead of gate",
                      {{"gate", "up"}}),
      ExchangedInputs("keys_and_values_exchanged",
                      "wk and wv are swapped, as if a fused weight is split in the wrong order",
                      {{"wk", "wv"}}),
      ExchangedInputs("queries_and_keys_exchanged", "wq and wk are swapped", {{"wq", "wk"}}),
      ExchangedInputs("norms_exchanged", "the weights of the two norms are swapped",
                      {{"attn_norm", "mlp_norm"}}),
      TransposedInput("wq_transposed", "wq is read as [in,out]", "wq"),
      TransposedInput("wo_transposed", "wo is read as [in,out]", "wo"),
      ChangedInput("positions_of_first", "every token has the position of the first one",
                   "position",
                   [](Tensor<double>& p) {
                     if (!p.data.empty()) std::ranges::fill(p.data, p.data[0]);
                   }),
      ScaledBy("scale_missing", "scores are not multiplied by 1/sqrt(D) (mlc-ai/mlc-llm#3426)",
               [](double, double, double) { return 1.0; }),
      ScaledBy("scale_by_width", "the scale is 1/D instead of 1/sqrt(D)",
               [](double, double, double D) { return D * D; }),
      ScaledBy("scale_of_all_heads", "scores are divided by sqrt(H D)",
               [](double, double H, double D) { return H * D; }),
      ScaledBy("scale_of_model",
               "scores are divided by sqrt(M/H), although M/H is not the width of a head "
               "(ggml-org/llama.cpp#8444)",
               [](double M, double H, double) { return M / H; }),
      ChangedRecipe("norms_in_bf16", "norms are computed in bf16 for every dtype",
                    "square=bf16 sum=bf16 rsqrt=bf16"),
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 for every dtype",
                    "softmax=bf16"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("intermediates_in_bf16", "intermediates are stored in bf16 for every dtype",
                    "keep=bf16"),
      ChangedRecipe("angle_in_bf16", "angles are computed in bf16", "angle=bf16"),
  };
}

}  // namespace sextant::oracle
