#include "oracle/attention/measured/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "oracle/attention/measured/planted_attention_test.h"
#include "oracle/attention/measured/softmax_sums.h"

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

TEST(MeasuredSoftmax, FindsNothingInARightAnswer) {
  EXPECT_THAT(PlantedSoftmax().Causes("f32"), IsEmpty());
}

TEST(MeasuredSoftmax, MeasuresTheFactorOfExponents) {
  EXPECT_THAT(PlantedSoftmax{.factor = 0.7}.Causes("f32"),
              Contains("x_multiplied (exponents are multiplied by 0.7)"));
  EXPECT_THAT(PlantedSoftmax{.factor = 0.25}.Causes("bf16"),
              Contains("x_multiplied (exponents are multiplied by 0.25 = 1/sqrt(16))"));
}

TEST(MeasuredSoftmax, NamesEpsInTheDivisor) {
  EXPECT_THAT(PlantedSoftmax{.added = 1e-5}.Causes("f32"),
              Contains("sum_increased (1e-05 is added to the sum of e^(x - largest))"));
}

// More rows than are read, with as many columns as make that few.
TEST(SoftmaxSums, ReadsSomeRowsOfALargeCase) {
  const AskedCase question("softmax N=40 M=4096");
  ASSERT_LT(SoftmaxSums::ElementsRead(40, 4096), size_t{40} * 4096);
  const std::vector<double>& x = question.inputs[0].values.data;
  Tensor<double> y({40, 4096});
  for (size_t n = 0; n < 40; ++n) {
    const auto row = std::span(x).subspan(n * 4096, 4096);
    const double largest = std::ranges::max(row);
    double sum = 1.5;
    for (const double one : row) sum += std::exp(one - largest);
    for (size_t j = 0; j < 4096; ++j) y(n, j) = std::exp(row[j] - largest) / sum;
  }
  const Tensors answer{{"y", DType::kF32, y}};
  const std::vector<GoldenTensor> golden;
  const std::vector<PermittedTensor> permitted;
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const Observation seen{question.c, question.inputs, recipe, golden, permitted, answer};
  const Hypothesis model{question.c.operation().Clone(), SharedInputs::Of(question.inputs), recipe};
  const auto added = SoftmaxSums(seen, model).Added();
  ASSERT_TRUE(added);
  // Of the 4096 additions to a sum of at most 4096.
  EXPECT_NEAR(added->value, 1.5, added->bar + 4096 * 4096 * 0x1p-53);
}

TEST(MeasuredSoftmax, NamesPaddingInTheSum) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedSoftmax{.zeros = 27}.Causes(dtype),
                Contains("sum_has_zeros (e^0 is added 27 times to the sum of e^x)"));
  }
}

TEST(MeasuredSoftmax, NamesSumsOfOtherRows) {
  for (const char* dtype : {"f32", "bf16"}) {
    PlantedSoftmax planted;
    planted.sums_rows = [](size_t, size_t other) { return other == 0; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains("sum_of_other_rows (all rows are divided by the sum of the first row)"));
    planted.sums_rows = [](size_t n, size_t other) { return n / 3 == other / 3; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains("sum_of_other_rows (blocks of 3 rows are divided by the sum over the "
                         "block)"));
  }
}

TEST(MeasuredSoftmax, NamesPartialSums) {
  PlantedSoftmax planted;
  planted.sums = [](size_t j, size_t k) { return j / 8 == k / 8; };
  EXPECT_THAT(planted.Causes("f32"),
              Contains("sum_by_tiles (each tile of 8 columns has its own sum)"));
  planted.sums = [](size_t, size_t k) { return k < 32; };
  EXPECT_THAT(planted.Causes("f32"), Contains("sum_cut (the sum has only columns 0 to 32 - 1)"));
}

TEST(MeasuredSoftmax, NamesOtherExponentials) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedSoftmax{.tile = 16}.Causes(dtype),
                Contains(testing::StartsWith("tiles_not_rescaled (the exponentials of each tile of "
                                             "16 columns are relative to the largest x up to it")));
    EXPECT_THAT(PlantedSoftmax{.least = 0.05}.Causes(dtype),
                Contains(testing::StartsWith("small_terms_dropped (exponentials e^(x - largest) "
                                             "below 0.0")));
  }
}

// Exponentials, sum and result are fitted each by itself.
TEST(MeasuredSoftmax, NamesDeviationsOfDifferentParts) {
  for (const char* dtype : {"f32", "bf16"}) {
    PlantedSoftmax planted{.power = 2};
    planted.sums = [](size_t, size_t k) { return k >= 21 && k < 35; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains("squared+sum_cut (y is another function of the softmax: its square; and "
                         "the sum has only columns 21 to 34)"));
    planted = {.added = 0.25, .tile = 8};
    EXPECT_THAT(planted.Causes(dtype),
                Contains(testing::AllOf(testing::HasSubstr("each tile of 8 columns"),
                                        testing::HasSubstr("0.25 is added to the sum"))));
  }
}

TEST(MeasuredSoftmax, NamesTwoDeviationsAtOnce) {
  EXPECT_THAT((PlantedSoftmax{.factor = 0.3, .added = 1e-3}.Causes("f32")),
              Contains("sum_increased+x_multiplied (0.001 is added to the sum of e^(x - largest); "
                       "and exponents are multiplied by 0.3)"));
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT((PlantedSoftmax{.factor = 0.25, .zeros = 1}.Causes(dtype)),
                Contains(testing::AllOf(
                    testing::HasSubstr("e^0 is added 1 times to the sum of e^x"),
                    testing::HasSubstr("exponents are multiplied by 0.25 = 1/sqrt(16)"))));
  }
  PlantedSoftmax planted{.factor = 0.7};
  planted.sums_rows = [](size_t n, size_t other) { return n / 2 == other / 2; };
  EXPECT_THAT(planted.Causes("f32"), Contains(testing::StartsWith("sum_of_other_rows+x_mult")));
}

}  // namespace
}  // namespace sextant::oracle
