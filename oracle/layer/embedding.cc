#include "reference/layer/embedding.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/measured/embedding.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// The inputs with value(row, column) as the elements of the table.
Tensors WithTable(const Case& c, Tensors inputs,
                  const std::function<double(size_t, size_t)>& value) {
  const size_t M = ExtentOf(c, "M");
  auto& table = inputs[kTable].values.data;
  for (size_t i = 0; i < table.size(); ++i) table[i] = value(i / M, i % M);
  return inputs;
}

// With row indices modulo 256 (exact in 16 bits) as the table, y shows the token; with column
// indices it shows the channel.
Comparisons CheckIndices(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double scale = NumberOf(c, "scale", 1);
  const size_t M = ExtentOf(c, "M");
  const auto of_256 = [](size_t i) { return static_cast<double>(i % 256); };
  const Response rows =
      ask(c, WithTable(c, inputs, [&](size_t row, size_t) { return of_256(row); }));
  const Response columns =
      ask(c, WithTable(c, inputs, [&](size_t, size_t column) { return of_256(column); }));
  Comparisons comparisons;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto token = static_cast<size_t>(inputs[kToken].values.data[i / M]);
    comparisons.Equal(rows(0, i), Measured(of_256(token)) * scale, {rows, 0, i});
    comparisons.Equal(columns(0, i), Measured(of_256(i % M)) * scale, {columns, 0, i});
  }
  return comparisons;
}

// -2 times the table gives -2 y, and so does -2 times the scale.
Comparisons CheckLinear(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"table"}, -2)), -2, y, comparisons);
  ExpectProportional(ask(Multiplied(c, "scale", -2, 1), inputs), -2, y, comparisons);
  return comparisons;
}

// With scale 1, y is the row of the table.
Comparisons CheckCopied(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  const Response y = ask(c.With("scale=1"), inputs);
  return EachEqual(y, [&](size_t i) {
    const auto token = static_cast<size_t>(inputs[kToken].values.data[i / M]);
    return inputs[kTable].values.data[token * M + i % M];
  });
}

using RowOf = double (*)(double token, double s, double V);
Defect OtherToken(std::string name, std::string why, RowOf row_of) {
  return ChangedInputs(std::move(name), std::move(why), [row_of](const Case& c, Tensors& inputs) {
    const auto V = static_cast<double>(ExtentOf(c, "V"));
    auto& token = inputs[kToken].values.data;
    for (size_t s = 0; s < token.size(); ++s) {
      token[s] = row_of(token[s], static_cast<double>(s), V);
    }
    return V > 0;
  });
}

std::vector<Defect> TokenDefects() {
  return {
      OtherToken("token_off_by_one", "tokens are counted from 1",
                 [](double t, double, double V) { return t + 1 < V ? t + 1 : 0; }),
      OtherToken(
          "token_one_less",
          "row 0 of the table is left out as padding: every token reads the row before its own",
          [](double t, double, double V) { return t > 0 ? t - 1 : V - 1; }),
      OtherToken("token_by_place", "the position of a token is used as the token",
                 [](double, double s, double V) { return std::fmod(s, V); }),
      OtherToken("token_in_8_bits", "tokens are stored in a byte",
                 [](double t, double, double) { return std::fmod(t, 256); }),
      OtherToken("last_row_clamped", "tokens are clamped to V - 2",
                 [](double t, double, double V) { return std::min(t, std::max(0.0, V - 2)); }),
      ChangedInputs("first_token_for_all", "every position has the row of the first token",
                    [](const Case&, Tensors& inputs) {
                      auto& token = inputs[kToken].values.data;
                      if (!token.empty()) std::ranges::fill(token, token[0]);
                      return true;
                    }),
  };
}

std::vector<Defect> TableDefects() {
  return {
      TransposedInput("table_transposed", "the table is read as [M,V]", "table"),
      ChangedInputs("padding_row_zero", "row 0 is set to 0, as for a padding token",
                    [](const Case& c, Tensors& inputs) {
                      auto& table = inputs[kTable].values.data;
                      const size_t M = std::min(ExtentOf(c, "M"), table.size());
                      std::fill_n(table.begin(), M, 0.0);
                      return true;
                    }),
      ChangedInput("columns_reversed", "the channels of every row are in reverse order", "table",
                   [](Tensor<double>& table) { ReverseBlocks(table, table.shape[0], 1); }),
      RoundedInput("table_in_bf16", "the table is stored in bf16 for every dtype", "table",
                   DType::kBF16),
  };
}

// The square root of a width, a multiple of 256, that bf16 rounds to the scale; empty if there is
// none.
std::string UnroundedScale(const Case& c) {
  const double scale = NumberOf(c, "scale", 1);
  const double width = 256 * std::nearbyint(scale * scale / 256);
  const double root = std::sqrt(width);
  return width > 0 && RoundTo(DType::kBF16, root) == scale ? "scale=" + PrintValue(root) : "";
}

std::vector<Defect> ScaleDefects() {
  return {
      ChangedWord("scale_unrounded",
                  "sqrt(M) is not rounded to bf16, as Gemma requires: 55.4256 instead of 55.5",
                  UnroundedScale),
      ChangedWord("scale_by_root_of_width",
                  "the table is multiplied by sqrt(M) although the scale is 1",
                  [](const Case& c) -> std::string {
                    if (NumberOf(c, "scale", 1) != 1) return "";
                    return "scale=" + PrintValue(std::sqrt(static_cast<double>(ExtentOf(c, "M"))));
                  }),
      ChangedWord("scale_applied_twice",
                  "the scale is applied by the embedding and again by the block",
                  [](const Case& c) {
                    const double scale = NumberOf(c, "scale", 1);
                    return "scale=" + PrintValue(scale * scale);
                  }),
      ChangedWord("divided_by_scale", "y is divided by the scale",
                  [](const Case& c) {
                    const double scale = NumberOf(c, "scale", 1);
                    return scale == 0 ? "" : "scale=" + PrintValue(1 / scale);
                  }),
      ChangedRecipe("scaled_in_bf16", "the product is computed in bf16 for every dtype",
                    "scale=bf16"),
      ChangedRecipe("scaled_in_f16", "the product is computed in f16, which overflows beyond 65504",
                    "scale=f16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Embedding>() {
  return {.properties = {{"rows_by_token",
                          "y comes from the row of its token and the column of its channel",
                          CheckIndices},
                         {"linear", "-2 times the table or the scale gives -2 y", CheckLinear},
                         {"copied_without_scale", "with scale 1 y is the row of the table",
                          CheckCopied}},
          .defects = Joined<Defect>({TokenDefects(), TableDefects(), ScaleDefects()}),
          .measurements = EmbeddingMeasurements()};
}

}  // namespace sextant::oracle
