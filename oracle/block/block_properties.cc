#include "oracle/block/block_properties.h"

#include <algorithm>

#include "oracle/attention/token_properties.h"

namespace sextant::oracle {
namespace {

constexpr size_t kBlockOutput = 0;

// With wo = 0 and down = 0 the branches add nothing. With eps 0 their norms would divide 0 by 0.
Comparisons CheckBlockIdentity(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (NumberOf(c, "eps", 0) == 0) return {};
  const Response y = ask(c, Filled(inputs, {"wo", "down"}, 0));
  const auto& x = InputNamed(inputs, "x").data;
  const SpecifiedTokens specified(c);
  Comparisons comparisons;
  for (size_t i = 0; i < x.size(); ++i) {
    if (specified(i / ExtentOf(c, "M")))
      comparisons.Equal(y(kBlockOutput, i), x[i], {y, kBlockOutput, i});
  }
  return comparisons;
}

Comparisons CheckBlockShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameTokens(c, inputs, Mapped(inputs, "position", [](double p) { return p + 64; }), ask);
}

Comparisons CheckValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameTokens(c, Multiplied(inputs, {"wv"}, 2), Multiplied(inputs, {"wo"}, 2), ask);
}

Comparisons CheckHidden(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors other = inputs;
  const size_t M = ExtentOf(c, "M");
  for (const char* name : {"gate", "up"}) ReverseBlocks(InputNamed(other, name), 1, M);
  ReverseBlocks(InputNamed(other, "down"), M, 1);
  return SameTokens(c, inputs, other, ask);
}

Comparisons CheckHeads(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  if (D == 0 || ExtentOf(c, "H") == 0) return {};
  Tensors other = inputs;
  for (const char* name : {"wq", "wk", "wv"}) ReverseBlocks(InputNamed(other, name), 1, D * M);
  for (const char* name : {"q_norm", "k_norm"}) {
    if (HasInput(other, name)) ReverseBlocks(InputNamed(other, name), 1, D);
  }
  ReverseBlocks(InputNamed(other, "wo"), M, D);
  return SameTokens(c, inputs, other, ask);
}

}  // namespace

std::vector<Property> BlockProperties() {
  return {
      {"idle_branches_change_nothing", "with wo = 0 and down = 0 the block is the identity",
       CheckBlockIdentity},
      LaterTokensDoNotCount(),
      PaddingIsNotRead(),
      {"translation_invariant", "only differences of positions matter", CheckBlockShift},
      {"values_pass_linearly", "doubling wv equals doubling wo", CheckValues},
      {"hidden_channels_in_any_order",
       "reversing the rows of gate and up and the columns of down changes nothing", CheckHidden},
      {"heads_in_any_order",
       "reversing the order of the heads, with their columns of wo, changes nothing", CheckHeads}};
}

}  // namespace sextant::oracle
