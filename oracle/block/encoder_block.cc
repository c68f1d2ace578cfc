#include "reference/block/encoder_block.h"

#include <algorithm>

#include "oracle/attention/heads_defects.h"
#include "oracle/attention/heads_properties.h"
#include "oracle/attention/token_properties.h"
#include "oracle/block/encoder_defects.h"
#include "oracle/block/measured/block.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/feed_forward_properties.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kAttentionOut = 1;

// With placement=pre and branches of 0, y is x + position_table.
Comparisons CheckEncoderBlockIdentity(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors plain = Filled(inputs, {"wo", "bo", "w2", "b2"}, 0);
  const Response y = ask(c.With("placement=pre"), plain);
  const auto &x = InputNamed(plain, "x").data, &position = InputNamed(plain, "position_table").data;
  Comparisons comparisons;
  for (size_t i = 0; TokensRead(c, "S") > 0 && i < x.size(); ++i) {
    comparisons.Equal(y(kY, i), Measured(x[i]) + position[i], {y, kY, i});
  }
  return comparisons;
}

Comparisons CheckPositions(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors exchanged = inputs;
  std::swap(InputNamed(exchanged, "x"), InputNamed(exchanged, "position_table"));
  return SameAnswer(c, inputs, exchanged, ask);
}

// Reversing the tokens that are read, with their positions, reverses y.
Comparisons CheckOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (TextOf(c, "mask") != "none") return {};
  const size_t read = TokensRead(c, "S"), M = ExtentOf(c, "M");
  Tensors reversed = inputs;
  for (const char* name : {"x", "position_table"}) ReverseRows(InputNamed(reversed, name), read);
  const Response y = ask(c, inputs), other = ask(c, reversed);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kY); ++i) {
    const size_t row = i / M, to = row < read ? read - 1 - row : row;
    comparisons.Equal(other(kY, to * M + i % M), y(kY, i), {y, kY, i});
  }
  return comparisons;
}

Comparisons CheckHomogeneous(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (TextOf(c, "kind") != "relu") return {};
  return SameAnswer(c, Multiplied(inputs, {"w1", "b1"}, 2), Multiplied(inputs, {"w2"}, 2), ask);
}

// Reversing the units of the feed-forward, with their columns of w2, does not change y.
Comparisons CheckUnits(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Tensors reversed = inputs;
  ReverseBlocks(InputNamed(reversed, "w1"), 1, M);
  ReverseBlocks(InputNamed(reversed, "b1"), 1, 1);
  ReverseBlocks(InputNamed(reversed, "w2"), M, 1);
  return UnitsInAnyOrder(c, inputs, reversed, ask);
}

// With a last norm of weight 1 and bias 0, rows of y have mean 0 and a mean square of at most 1.
Comparisons CheckNormalised(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  const Response y =
      ask(c.With("placement=post"), Filled(Filled(inputs, {"norm2_weight"}, 1), {"norm2_bias"}, 0));
  Comparisons comparisons;
  for (size_t first = 0; first < y.size(kY); first += M) {
    Measured sum = 0, squares = 0;
    for (size_t i = first; i < first + M; ++i) {
      sum = sum + y(kY, i);
      squares = squares + y(kY, i) * y(kY, i);
    }
    comparisons.Equal(sum, 0, {y, kY, first});
    comparisons.AtMost(squares, static_cast<double>(M), {y, kY, first});
  }
  return comparisons;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<EncoderBlock>() {
  return {
      .properties = Joined<Property>(
          {{{"identity_without_branches",
             "with placement=pre and branches of 0, y is x + position_table",
             CheckEncoderBlockIdentity},
            {"positions_are_added", "exchanging x and position_table changes nothing",
             CheckPositions},
            {"tokens_in_any_order", "reversing the tokens, with their positions, reverses y",
             CheckOrder},
            LaterTokensDoNotCount(),
            PaddingIsNotRead(),
            {"relu_is_homogeneous", "with kind=relu doubling w1 and b1 equals doubling w2",
             CheckHomogeneous},
            {"units_in_any_order",
             "reversing the units of the feed-forward, with their columns of w2, does not change y",
             CheckUnits},
            {"post_normalises_last",
             "with placement=post and a last norm of weight 1 and bias 0, rows have mean 0 and a "
             "mean square of at most 1",
             CheckNormalised}},
           HeadsProperties(kAttentionOut)}),
      .defects = Joined<Defect>({EncoderFormulaDefects(), EncoderInputDefects(),
                                 HeadsInputDefects(), HeadsRecipeDefects()}),
      .measurements = {MeasureBlock}};
}

}  // namespace sextant::oracle
