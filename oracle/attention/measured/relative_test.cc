#include "oracle/attention/measured/relative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

using RowOfDistance = std::function<int64_t(int64_t d)>;

constexpr size_t kBatches = 2, kHeads = 2, kWidth = 8;

int64_t RightRow(int64_t d) { return std::clamp<int64_t>(d, -4, 4) + 4; }

// Attention with relative positions and planted bugs, in plain loops of doubles.
struct PlantedRelative {
  RowOfDistance row = RightRow;  // of both tables
  double cap = kInfinity;
  size_t first = 0;              // key
  RowOfDistance value_row = {};  // null: row
  size_t next = 0;               // the key table is multiplied by query s + next, around the end
  size_t S = 9, T = 11;
  bool is_skewed = false;      // the terms of the key table, without a mask
  std::string positions = "";  // words of the case, and those of the queries
  std::vector<int64_t> at = {0, 1, 2, 3, 4, 5, 6, 7, 8};

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("relative_attention clip=4 B=2 H=2 S=" + std::to_string(S) +
                             " T=" + std::to_string(T) + " D=8 " + positions + " dtype=" + dtype);
    Tensor<double> y({kBatches, kHeads, S, kWidth});
    for (size_t head = 0; head < kBatches * kHeads; ++head)
      for (size_t s = 0; s < S; ++s) SetRow(question.inputs, head, s, question.c.dtype(), y);
    return question.Causes({{"y", question.c.dtype(), y}});
  }

 private:
  // The query and the row of the key table whose product is added to a score; no row: 0. Skewed:
  // [S,1+S], a column of 0 and the products with the rows of distances S - 1 back to 0, is read as
  // [1+S,S] from its row 1 on.
  std::pair<size_t, std::optional<int64_t>> TermOf(size_t s, size_t t) const {
    const size_t i = S + s * S + t, column = i % (S + 1);
    if (is_skewed && column == 0) return {i / (S + 1), std::nullopt};
    if (is_skewed)
      return {i / (S + 1), row(static_cast<int64_t>(column) - static_cast<int64_t>(S))};
    const size_t other = (s + next) % S;
    return {other, row(static_cast<int64_t>(t) - at[other])};
  }
  void SetRow(const Tensors& inputs, size_t head, size_t s, DType dtype, Tensor<double>& y) const {
    const auto input = [&](const char* name, size_t i, size_t d) {
      return InputNamed(inputs, name).data[i * kWidth + d];
    };
    std::vector<double> weighted(kWidth);
    double sum = 0;
    for (size_t t = first; t < T; ++t) {
      const auto [other, of_key] = TermOf(s, t);
      const auto of_value =
          static_cast<size_t>((value_row ? value_row : row)(static_cast<int64_t>(t) - at[s]));
      double score = 0;
      for (size_t d = 0; d < kWidth; ++d) {
        score += input("q", head * S + s, d) * input("k", head * T + t, d);
        if (of_key) {
          score +=
              input("q", head * S + other, d) * input("key_table", static_cast<size_t>(*of_key), d);
        }
      }
      score /= std::sqrt(8.0);
      const double weight = std::exp(cap < kInfinity ? cap * std::tanh(score / cap) : score);
      sum += weight;
      for (size_t d = 0; d < kWidth; ++d)
        weighted[d] += weight * (input("v", head * T + t, d) + input("value_table", of_value, d));
    }
    for (size_t d = 0; d < kWidth; ++d)
      y.data[(head * S + s) * kWidth + d] = RoundTo(dtype, weighted[d] / sum);
  }
};

std::vector<std::string> CausesWith(const std::string& dtype, const RowOfDistance& row,
                                    double cap = kInfinity, size_t first = 0) {
  return PlantedRelative{.row = row, .cap = cap, .first = first}.Causes(dtype);
}

TEST(MeasuredRelative, NamesAnotherClip) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(dtype, [](int64_t d) { return std::clamp<int64_t>(d, -2, 2) + 4; }),
                Contains("distances_changed (the rows of both tables are read at other distances: "
                         "those beyond 2 as 2, expected a clip of 4)"));
  }
}

TEST(MeasuredRelative, NamesDistancesWithoutASign) {
  EXPECT_THAT(
      CausesWith("f32", [](int64_t d) { return std::clamp<int64_t>(std::abs(d), -4, 4) + 4; }),
      Contains(StartsWith("distances_changed (the rows of both tables are read at other "
                          "distances: d as |d|")));
}

TEST(MeasuredRelative, NamesTwoDeviationsOfDifferentParts) {
  const auto absolute = [](int64_t d) { return std::clamp<int64_t>(std::abs(d), -4, 4) + 4; };
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(dtype, absolute, 3),
                Contains(testing::AllOf(testing::HasSubstr("scores are capped at 3"),
                                        testing::HasSubstr("d as |d|"))));
    EXPECT_THAT(CausesWith(dtype, absolute, kInfinity, 1),
                Contains(testing::AllOf(testing::HasSubstr("the first key is missing"),
                                        testing::HasSubstr("d as |d|"))));
  }
}

TEST(MeasuredRelative, SaysNothingOfRightOrUnknownRows) {
  EXPECT_THAT(CausesWith("f32", RightRow), IsEmpty());
  EXPECT_THAT(CausesWith("f32", [](int64_t d) { return RightRow(5 * d % 7); }), IsEmpty());
}

TEST(MeasuredRelative, NamesAClipOfKeysBeforeTheQuery) {
  EXPECT_THAT(
      CausesWith("f32", [](int64_t d) { return std::clamp<int64_t>(d, -2, 4) + 4; }),
      Contains("clip_changed (distances of keys before the query are clipped at 2, expected "
               "a clip of 4)"));
  EXPECT_THAT(CausesWith("f32", [](int64_t) { return int64_t{4}; }),
              Contains("clip_changed (distances are clipped at 0, expected a clip of 4)"));
}

TEST(MeasuredRelative, NamesAClipOfTheValueTable) {
  const auto nearer = [](int64_t d) { return std::clamp<int64_t>(d, -3, 3) + 4; };
  EXPECT_THAT(PlantedRelative{.value_row = nearer}.Causes("f32"),
              Contains("clip_changed (distances are clipped at 3, expected a clip of 4, in the "
                       "value table alone)"));
}

TEST(MeasuredRelative, NamesTheTermOfTheNextQuery) {
  const std::string text =
      "table_terms_changed (the term of the key table is that of the next query, around the end)";
  EXPECT_THAT(PlantedRelative{.next = 1}.Causes("f32"), Contains(text));
  EXPECT_THAT((PlantedRelative{
                  .next = 1, .S = 4, .positions = "@query_position=7,0,5,2", .at = {7, 0, 5, 2}}
                   .Causes("f32")),
              Contains(text));
}

TEST(MeasuredRelative, NamesASkewWithoutAMask) {
  EXPECT_THAT((PlantedRelative{.T = 9, .is_skewed = true}.Causes("f32")),
              Contains(HasSubstr("skewed without a mask")));
}

}  // namespace
}  // namespace sextant::oracle
