#include "oracle/block/block_laws.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/token_laws.h"
#include "oracle/defect/input_defects.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0;

// Branches that add nothing; with eps 0 their norms would divide 0 by 0.
Findings CheckIdentity(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (NumberOf(c, "eps", 0) == 0) return {};
  const Response y = ask(c, Filled(inputs, {"wo", "down"}, 0));
  const auto& x = In(inputs, "x").data;
  const SpecifiedTokens specified(c);
  Findings findings;
  for (size_t i = 0; i < x.size(); ++i) {
    if (specified(i / ExtentOf(c, "M"))) findings.Equal(y(kY, i), x[i], {y, kY, i});
  }
  return findings;
}

Findings CheckShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameTokens(c, inputs, Mapped(inputs, "position", [](double p) { return p + 64; }), ask);
}

Findings CheckValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameTokens(c, Multiplied(inputs, {"wv"}, 2), Multiplied(inputs, {"wo"}, 2), ask);
}

Findings CheckHidden(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors other = inputs;
  const size_t M = ExtentOf(c, "M");
  for (const char* name : {"gate", "up"}) ReverseBlocks(In(other, name), 1, M);
  ReverseBlocks(In(other, "down"), M, 1);
  return SameTokens(c, inputs, other, ask);
}

Findings CheckHeads(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  if (D == 0 || ExtentOf(c, "H") == 0) return {};
  Tensors other = inputs;
  for (const char* name : {"wq", "wk", "wv"}) ReverseBlocks(In(other, name), 1, D * M);
  for (const char* name : {"q_norm", "k_norm"}) {
    if (HasInput(other, name)) ReverseBlocks(In(other, name), 1, D);
  }
  ReverseBlocks(In(other, "wo"), M, D);
  return SameTokens(c, inputs, other, ask);
}

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

}  // namespace

std::vector<Property> BlockLaws() {
  return {{"idle_branches_change_nothing", "with wo and down 0 the block is the identity",
           CheckIdentity},
          LaterTokensDoNotCount(),
          PaddingIsNotRead(),
          {"translation_invariant", "only differences of positions count", CheckShift},
          {"values_pass_linearly", "twice wv gives what twice wo does", CheckValues},
          {"hidden_channels_in_any_order", "rows of gate and up, and columns of down, in reverse",
           CheckHidden},
          {"heads_in_any_order", "heads in reverse, with their columns of wo", CheckHeads}};
}

std::vector<Defect> BlockInputDefects() {
  return {
      LengthOneMore(),
      ClampedInput("negative_position_clamped", "a negative position is taken for 0", "position"),
      ExchangedInputs("gate_exchanged_with_up", "the other half goes through the activation",
                      {{"gate", "up"}}),
      ExchangedInputs("keys_exchanged_with_values",
                      "wk and wv are swapped, as when a fused weight is split in another order",
                      {{"wk", "wv"}}),
      ExchangedInputs("queries_exchanged_with_keys", "wq and wk are swapped", {{"wq", "wk"}}),
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
      ScaledBy("scale_of_whole_width", "scores are divided by the root of H D",
               [](double, double H, double D) { return H * D; }),
      ScaledBy("scale_of_model",
               "scores are divided by the root of M/H, which is not the heads' own width "
               "(ggml-org/llama.cpp#8444)",
               [](double M, double H, double) { return M / H; }),
      ChangedRecipe("norms_in_bf16", "norms sum and divide in bf16 whatever the dtype",
                    "square=bf16 sum=bf16 rsqrt=bf16"),
      ChangedRecipe("softmax_in_bf16", "the softmax is computed in bf16 whatever the dtype",
                    "softmax=bf16"),
      ChangedRecipe("sums_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("handed_on_in_bf16", "tensors are handed on in bf16 whatever the dtype",
                    "keep=bf16"),
      ChangedRecipe("angles_in_bf16", "angles are computed in bf16", "angle=bf16"),
  };
}

}  // namespace sextant::oracle
