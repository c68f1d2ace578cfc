#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

constexpr size_t kRows = 8, kColumns = 37;

// y_j = e^(factor x_j) / (sum + added + zeros e^0), where the sum has the columns of `sums` in the
// rows of `sums_rows`.
struct PlantedSoftmax {
  double factor = 1, added = 0, zeros = 0;
  double least = 0;  // smaller exponentials are 0
  size_t tile = 0;   // the exponentials of a tile are relative to the largest x up to its end
  int power = 1;     // of the result
  std::function<bool(size_t n, size_t other)> sums_rows = std::equal_to<size_t>();
  std::function<bool(size_t j, size_t k)> sums = [](size_t, size_t) { return true; };

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("softmax N=8 M=37 dtype=" + dtype);
    const std::vector<double>& x = question.inputs[0].values.data;
    Tensor<double> y({kRows, kColumns});
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t n = i / kColumns, j = i % kColumns;
      const auto largest = [&](size_t row) {
        const auto values = std::span(x).subspan(row * kColumns, kColumns);
        return factor * (factor > 0 ? std::ranges::max(values) : std::ranges::min(values));
      };
      // The exponential of column k of a row.
      const auto term = [&](size_t row, size_t k) {
        const size_t end = tile == 0 ? kColumns : std::min(kColumns, (k / tile + 1) * tile);
        const auto values = std::span(x).subspan(row * kColumns, end);
        const double relative_to = tile == 0 ? largest(row) : factor * std::ranges::max(values);
        const double e = std::exp(factor * x[row * kColumns + k] - relative_to);
        return e < least ? 0 : e;
      };
      double sum = added + zeros * std::exp(-largest(n));
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t k = 0; k < kColumns && sums_rows(n, row); ++k)
          if (sums(j, k)) sum += term(row, k);
      }
      y.data[i] = RoundTo(question.c.dtype(), std::pow(term(n, j) / sum, power));
    }
    return question.Causes({{"y", question.c.dtype(), y}});
  }
};

TEST(PlantedSoftmaxTest, FindsNothingInARightAnswer) {
  EXPECT_THAT(PlantedSoftmax().Causes("f32"), IsEmpty());
}

TEST(PlantedSoftmaxTest, MeasuresTheFactorOfExponents) {
  EXPECT_THAT(PlantedSoftmax{.factor = 0.7}.Causes("f32"),
              Contains("x_multiplied (x is multiplied by 0.7)"));
  EXPECT_THAT(PlantedSoftmax{.factor = 0.25}.Causes("bf16"),
              Contains("x_multiplied (x is multiplied by 0.25 = 1/sqrt(16))"));
}

TEST(PlantedSoftmaxTest, NamesEpsInTheDivisor) {
  EXPECT_THAT(PlantedSoftmax{.added = 1e-5}.Causes("f32"),
              Contains(testing::StartsWith("sum_of_exponentials_increased (1e-05 +- ")));
}

TEST(PlantedSoftmaxTest, NamesPaddingInTheSum) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(
        PlantedSoftmax{.zeros = 27}.Causes(dtype),
        Contains("sum_of_exponentials_has_zeros (the sum of exponentials has 27 terms more, "
                 "those of x = 0)"));
  }
}

TEST(PlantedSoftmaxTest, NamesSumsOfOtherRows) {
  for (const char* dtype : {"f32", "bf16"}) {
    PlantedSoftmax planted;
    planted.sums_rows = [](size_t, size_t other) { return other == 0; };
    EXPECT_THAT(
        planted.Causes(dtype),
        Contains("sum_of_exponentials_all_the_first (the sum of exponentials is that of other "
                 "rows: the first one everywhere)"));
    planted.sums_rows = [](size_t n, size_t other) { return n / 3 == other / 3; };
    EXPECT_THAT(
        planted.Causes(dtype),
        Contains("sum_of_exponentials_of_rows (groups of 3 rows share the sum of exponentials)"));
  }
}

TEST(PlantedSoftmaxTest, NamesPartialSums) {
  PlantedSoftmax planted;
  planted.sums = [](size_t j, size_t k) { return j / 8 == k / 8; };
  EXPECT_THAT(
      planted.Causes("f32"),
      Contains("sum_of_exponentials_by_groups (the sum of exponentials is that of each group of "
               "8 columns of 37)"));
  planted.sums = [](size_t, size_t k) { return k < 32; };
  EXPECT_THAT(
      planted.Causes("f32"),
      Contains("sum_of_exponentials_cut (the sum of exponentials has only the first 32 columns "
               "of 37)"));
}

TEST(PlantedSoftmaxTest, NamesOtherExponentials) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(
        PlantedSoftmax{.tile = 16}.Causes(dtype),
        Contains(testing::StartsWith("largest_up_to_tile (the largest is that of the columns "
                                     "up to the end of each tile of 16")));
    EXPECT_THAT(
        PlantedSoftmax{.least = 0.05}.Causes(dtype),
        Contains(testing::HasSubstr("the exponential is 0 where its magnitude is below 0.0")));
  }
}

// Exponentials, sum and result are fitted each by itself.
TEST(PlantedSoftmaxTest, NamesDeviationsOfDifferentParts) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedSoftmax{.power = 2}.Causes(dtype),
                Contains(testing::HasSubstr("square of")));
    const PlantedSoftmax planted{.added = 0.25, .tile = 8};
    EXPECT_THAT(planted.Causes(dtype), Contains(testing::AllOf(testing::HasSubstr("each tile of 8"),
                                                               testing::HasSubstr("0.25 "))));
  }
}

TEST(PlantedSoftmaxTest, NamesTwoDeviationsAtOnce) {
  EXPECT_THAT(
      (PlantedSoftmax{.factor = 0.3, .added = 1e-3}.Causes("f32")),
      Contains("x_multiplied+sum_of_exponentials_increased (x is multiplied by 0.3; and 0.001 is "
               "added to the sum of exponentials)"));
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(
        (PlantedSoftmax{.factor = 0.25, .zeros = 1}.Causes(dtype)),
        Contains(testing::AllOf(testing::HasSubstr("1 terms more"),
                                testing::HasSubstr("x is multiplied by 0.25 = 1/sqrt(16)"))));
  }
}

}  // namespace
}  // namespace sextant::oracle
