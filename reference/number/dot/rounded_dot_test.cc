#include "reference/number/dot/rounded_dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/matrix_product.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// Row n is 2^n times 1, 2, -3, 0, 0, 0, 0, 1, and the numbers of the columns are 1, but the
// third is -1 in column 0 and 0 in column 1. The third and the eighth sum stand for five each: of
// column 0 they are 6 and 7, of binade 4; its products have the binades 1, 2, 2 and 1. Units of
// 2^-23. With seven terms the second group has no middle.
void ExpectSums(std::vector<double> terms, size_t count, bool exact) {
  const bool has_last = terms.size() == 8;
  std::vector<double> block(terms.size() * kRoundedRows, 1), rows;
  block[2 * kRoundedRows] = -1;
  block[2 * kRoundedRows + 1] = 0;
  for (size_t n = 0; n < count; ++n)
    for (const double term : terms) rows.push_back(std::ldexp(term, static_cast<int>(n)));
  std::vector<LongSums> sums(count);
  AddLongProducts(rows, block.data(), exact, sums);
  for (size_t n = 0; n < count; ++n) {
    SCOPED_TRACE(testing::Message() << "row " << n << " of " << count);
    const double times = std::ldexp(1, static_cast<int>(n)), unit = times * 0x1p-23;
    const double of_products = exact ? 0 : 1 + 4 + 4 + has_last;
    EXPECT_EQ(sums[n].sums[0], (6 + has_last) * times);
    EXPECT_DOUBLE_EQ(sums[n].variances[0],
                     (5 * 16 + 5 * 16 * has_last + of_products) * unit * unit / 3);
    EXPECT_EQ(sums[n].sums[1], (3 + has_last) * times);
    EXPECT_DOUBLE_EQ(sums[n].variances[1],
                     (5 * 4 + 5 * 16 * has_last + (exact ? 0 : of_products - 4)) * unit * unit / 3);
    EXPECT_EQ(sums[n].sums[kRoundedRows - 1], has_last * times);
  }
}
TEST(AddLongProducts, AddsTheVariancesOfAllRoundings) {
  OnEveryTarget([] {
    for (size_t count = 1; count <= 6; ++count) {
      for (const bool exact : {true, false}) {
        ExpectSums({1, 2, -3, 0, 0, 0, 0, 1}, count, exact);
        ExpectSums({1, 2, -3, 0, 0, 0, 0}, count, exact);
      }
    }
  });
}

// Writes only kRoundedRows sums: the numbers after them stay as they are.
TEST(AddFloatProducts, RoundsEverySumAndStopsAtTheLast) {
  OnEveryTarget([] {
    const std::vector<float> row = {0x1p24f, 1, 1, -0x1p24f};
    const std::vector<float> block(4 * kRoundedRows, 1);
    std::vector<float> sums(kRoundedRows + 8, 77);
    AddFloatProducts(row, block.data(), sums.data());
    for (size_t j = 0; j < sums.size(); ++j) EXPECT_EQ(sums[j], j < kRoundedRows ? 0 : 77) << j;
  });
}

TEST(WithRandomError, KeepsWhatHasNoFiniteVariance) {
  EXPECT_EQ(WithRandomError(kInfinity, kInfinity, 1), kInfinity);
  EXPECT_TRUE(std::isnan(WithRandomError(kNaN, kNaN, 1)));
  EXPECT_EQ(WithRandomError(1 + 0x1p-30, 0, 1), 1);
}

TEST(WithRandomError, EqualSumsOfOneSeedHaveEqualErrors) {
  EXPECT_EQ(WithRandomError(1.5, 0x1p-40, 1), WithRandomError(1.5, 0x1p-40, 1));
  EXPECT_NE(WithRandomError(1.5, 0x1p-40, 1), WithRandomError(1.5, 0x1p-40, 2));
  EXPECT_NE(WithRandomError(1.5, 0x1p-40, 1) - 1.5, WithRandomError(1.75, 0x1p-40, 1) - 1.75);
}

constexpr size_t kRows = 5, kWidth = 640, kColumns = 16, kSeeds = 40;

// Terms whose products need the bits of two numbers of the dtype. A mean makes the sum grow.
struct Problem {
  Problem(DType dtype, double mean)
      : x({kRows, kWidth}), weight{"weight", dtype, Tensor<double>({kColumns, kWidth})} {
    Random random(static_cast<uint64_t>(mean * 8) + 1);
    for (Rounded& number : x.data) number = Rounded(RoundTo(dtype, random.Uniform(-1, 1) + mean));
    for (double& number : weight.values.data) number = RoundTo(dtype, random.Uniform(0, 1));
  }
  Tensor<Rounded> x;
  NamedTensor weight;
};

// The mean square of the errors of the sums over all columns and seeds, in units of the mean of the
// derived variances. If `one_by_one`, the sums are rounded step by step.
double MeanSquare(DType dtype, double mean, bool one_by_one) {
  const Problem problem(dtype, mean);
  const Weights<Rounded> weights(problem.weight);
  const Recipe recipe = ParseRecipe("*=f32", dtype);
  const ScopedRecipe following(recipe, dtype);
  std::vector<double> row, block(kWidth * kColumns);
  for (const Rounded& number : problem.x.data) row.push_back(number.value());
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = problem.weight.values(i % kColumns, i / kColumns);
  }
  LongSums exact[kRows];
  AddLongProducts(row, block.data(), dtype == DType::kBF16, exact);
  double squares = 0, variances = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ScopedStochasticRounding rounding(seed);
    Tensor<Rounded> y({kRows, kColumns});
    MultiplyByWeights(problem.x, weights, y);
    for (size_t j = 0; j < kColumns; ++j) {
      const std::vector<Rounded> column = weights.RowOf(j);
      for (size_t n = 0; n < kRows; ++n) {
        const auto row_n = std::span<const Rounded>(problem.x.data).subspan(n * kWidth, kWidth);
        const Rounded sum = one_by_one ? Dot(row_n, std::span<const Rounded>(column)) : y(n, j);
        squares += std::pow(sum.value() - exact[n].sums[j], 2);
        variances += exact[n].variances[j];
      }
    }
  }
  return squares / variances;
}

// The derivation in rounded_dot.h gives a factor between 3/4 and 3/2, and 1 for equally distributed
// distances. The mean of 3200 squares of normal numbers has a standard deviation of sqrt(2/3200) =
// 0.025; five of them are 0.125. Numbers of f32 have bits below the last place of every sum.
TEST(LongSums, HaveTheVarianceOfSumsThatAreRoundedStepByStep) {
  for (const double mean : {0.0, 0.25, 2.0}) {
    SCOPED_TRACE(mean);
    const double step_by_step = MeanSquare(DType::kF32, mean, true);
    EXPECT_GT(step_by_step, 0.75 - 0.125);
    EXPECT_LT(step_by_step, 1.5 + 0.125);
    EXPECT_NEAR(MeanSquare(DType::kF32, mean, false), 1, 0.125);
  }
}

// Numbers of bf16 have few bits: many of their sums need no rounding.
TEST(LongSums, HaveAtLeastTheVarianceOfSumsOfNarrowNumbers) {
  for (const double mean : {0.0, 0.25, 2.0}) {
    SCOPED_TRACE(mean);
    EXPECT_LT(MeanSquare(DType::kBF16, mean, true), 1.5 + 0.125);
    EXPECT_NEAR(MeanSquare(DType::kBF16, mean, false), 1, 0.125);
  }
}

}  // namespace
}  // namespace sextant
