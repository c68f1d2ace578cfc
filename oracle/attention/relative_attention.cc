#include "reference/attention/relative_attention.h"

#include <algorithm>

#include "oracle/attention/measured/relative.h"
#include "oracle/attention/relative_attention_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kScores = 1;

double ClipOf(const Case& c) { return NumberOf(c, "clip", 0); }

// Moves keys at distance clip or more from every query further away. Nothing changes.
Comparisons CheckClip(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors further = inputs;
  const auto& query = InputNamed(further, "query_position").data;
  if (query.empty()) return {};
  const auto [first, last] = std::ranges::minmax(query);
  for (double& key : InputNamed(further, "key_position").data) {
    if (key <= first - ClipOf(c)) key -= 1000;
    if (key >= last + ClipOf(c)) key += 1000;
  }
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, further), comparisons);
  return comparisons;
}

// Values of 1 with a value table of 0, and values of 0 with a table of 1, give 1: the weights sum
// to 1.
Comparisons CheckRelativeAttentionSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  for (const double value : {0, 1}) {
    if (InputNamed(inputs, "key_position").data.empty()) return comparisons;
    const Response y = ask(c, Filled(Filled(inputs, {"v"}, value), {"value_table"}, 1 - value));
    for (size_t i = 0; i < y.size(kY); ++i) {
      comparisons.Equal(y(kY, i), 1, {y, kY, i});
    }
  }
  return comparisons;
}

// Reversing keys, values and their positions does not change y and reverses the scores.
Comparisons CheckRelativeAttentionOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  Tensors reversed = inputs;
  std::ranges::reverse(InputNamed(reversed, "key_position").data);
  for (const char* name : {"k", "v"}) {
    Tensor<double>& rows = InputNamed(reversed, name);
    ReverseBlocks(rows, rows.shape[0] * rows.shape[1], D);
  }
  const Response a = ask(c, inputs), b = ask(c, reversed);
  Comparisons comparisons;
  for (size_t i = 0; i < a.size(kY); ++i) {
    comparisons.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  if (!a.Has(kScores) || !b.Has(kScores)) return comparisons;
  for (size_t i = 0; i < a.size(kScores); ++i) {
    comparisons.Equal(a(kScores, i), b(kScores, i / T * T + (T - 1 - i % T)), {b, kScores, i});
  }
  return comparisons;
}

// Scores are the sum of those of the keys and those of the key table.
Comparisons CheckParts(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response all = ask(c, inputs), a = ask(c, Filled(inputs, {"key_table"}, 0)),
                 b = ask(c, Filled(inputs, {"k"}, 0));
  Comparisons comparisons;
  if (!all.Has(kScores) || !a.Has(kScores) || !b.Has(kScores)) return comparisons;
  for (size_t i = 0; i < all.size(kScores); ++i) {
    comparisons.Equal(all(kScores, i), a(kScores, i) + b(kScores, i), {all, kScores, i});
  }
  return comparisons;
}

// Without a scale, D score^2 is the square of the score with scale=1, and both have the same sign.
// Otherwise the score is the scale times that score.
Comparisons CheckRelativeAttentionScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response scaled = ask(c, inputs), plain = ask(c.With("scale=1"), inputs);
  const std::string scale = TextOf(c, "scale");
  Comparisons comparisons;
  if (!scaled.Has(kScores) || !plain.Has(kScores)) return comparisons;
  for (size_t i = 0; i < scaled.size(kScores); ++i) {
    const Measured a = scaled(kScores, i), b = plain(kScores, i);
    if (scale.empty()) {
      comparisons.Equal(a * a * static_cast<double>(ExtentOf(c, "D")), b * b, {scaled, kScores, i});
      comparisons.AtMost(0, a * b, {scaled, kScores, i});
    } else {
      comparisons.Equal(a, b * NumberOf(c, "scale", 1), {scaled, kScores, i});
    }
  }
  return comparisons;
}

// If all keys are equal, k adds a constant to each row of scores, which does not change y.
Comparisons CheckRelativeAttentionConstant(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  Tensors same = inputs;
  auto& k = InputNamed(same, "k").data;
  for (size_t i = 0; i < k.size(); ++i) k[i] = k[i / (T * D) * (T * D) + i % D];
  return SameAnswer(c, same, Filled(inputs, {"k"}, 0), ask);
}

// With a key table of 0 and equal keys all weights are equal: y is the mean of the values.
Comparisons CheckRelativeAttentionMean(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D"), S = ExtentOf(c, "S");
  const Response y = ask(c, Filled(inputs, {"k", "key_table", "value_table"}, 0));
  const auto& v = InputNamed(inputs, "v").data;
  Comparisons comparisons;
  for (size_t i = 0; T > 0 && i < y.size(kY); ++i) {
    Measured sum = 0;
    for (size_t t = 0; t < T; ++t) sum = sum + v[(i / (S * D) * T + t) * D + i % D];
    comparisons.Equal(y(kY, i) * static_cast<double>(T), sum, {y, kY, i});
  }
  return comparisons;
}

Comparisons CheckRelativeAttentionValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons
      comparisons;  // doubled, not halved: half of a number need not be a number of the dtype
  ExpectProportional(ask(c, Multiplied(inputs, {"v", "value_table"}, 2)), 2, ask(c, inputs),
                     comparisons);
  return comparisons;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RelativeAttention>() {
  return {.properties = {TranslationInvariant(),
                         {"clipped", "distances beyond clip do not matter", CheckClip},
                         {"weights_sum_to_one", "the weights sum to 1: values of 1 give 1",
                          CheckRelativeAttentionSum},
                         {"keys_in_any_order", "y does not depend on the order of the keys",
                          CheckRelativeAttentionOrder},
                         {"scores_add_up",
                          "scores are those of the keys plus those of the key table", CheckParts},
                         {"scaled", "scores are proportional to the scale; its default is D^-1/2",
                          CheckRelativeAttentionScale},
                         {"constant_scores_do_not_count",
                          "a constant added to all scores of a query does not change y",
                          CheckRelativeAttentionConstant},
                         {"equal_scores_give_the_mean", "equal scores give the mean of the values",
                          CheckRelativeAttentionMean},
                         {"linear_in_values", "twice the values give twice y",
                          CheckRelativeAttentionValues}},
          .defects = RelativeAttentionDefects(),
          .measurements = {MeasureRelative}};
}

}  // namespace sextant::oracle
