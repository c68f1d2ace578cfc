#include "reference/number/recipe/tf32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/dot/counted_factor.h"
#include "reference/number/dot/dot.h"
#include "reference/number/matrix_product.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

constexpr Factors kBoth[] = {Factors::kTf32, Factors::kTf32Truncated};

// 10 bits after the point: 1 + 2^-11 is the midpoint of 1 and 1 + 2^-10.
TEST(Tf32, HasTenBitsAfterThePoint) {
  EXPECT_EQ(FactorOf(Factors::kTf32, 1 + 0x1p-11), 1 + 0x1p-10);  // a tie, away from 0
  EXPECT_EQ(FactorOf(Factors::kTf32, -1 - 0x1p-11), -1 - 0x1p-10);
  EXPECT_EQ(FactorOf(Factors::kTf32, 1 + 0x1p-12), 1);
  EXPECT_EQ(FactorOf(Factors::kTf32Truncated, 1 + 0x1.8p-11), 1);
  EXPECT_EQ(FactorOf(Factors::kTf32Truncated, -2 + 0x1p-23), -2 + 0x1p-10);
  EXPECT_EQ(FactorOf(Factors::kTf32, 2 - 0x1p-23), 2);
  EXPECT_EQ(FactorOf(Factors::kTf32, MaxFinite(DType::kF32)), kInfinity);
  EXPECT_EQ(FactorOf(Factors::kTf32Truncated, MaxFinite(DType::kF32)), 0x1.ffcp127);
  EXPECT_EQ(FactorOf(Factors::kWhole, 1 + 0x1p-23), 1 + 0x1p-23);
}

TEST(Tf32, ErrorsAreHalfAnUlpOrAnUlp) {
  EXPECT_EQ(FactorError(Factors::kTf32, 1.5), 0x1p-11);
  EXPECT_EQ(FactorError(Factors::kTf32Truncated, 1.5), 0x1p-10);
  EXPECT_EQ(FactorError(Factors::kTf32, 0x1p-130), 0x1p-137);  // subnormal
  EXPECT_EQ(FactorError(Factors::kTf32, 0x1p-140), 0x1p-140);  // becomes 0
  EXPECT_EQ(FactorError(Factors::kTf32, 0x1.ffep127), kInfinity);
  EXPECT_EQ(FactorError(Factors::kTf32Truncated, MaxFinite(DType::kF32)), 0x1p117);
  EXPECT_EQ(FactorError(Factors::kWhole, 1.5), 0);
  EXPECT_EQ(RelativeFactorError(Factors::kTf32), 0x1p-11);
  EXPECT_EQ(RelativeFactorError(Factors::kTf32Truncated), 0x1p-10);
}

TEST(Tf32, NumbersStayWithinTheErrorAndComeNearIt) {
  Random random(1);
  for (const Factors factors : kBoth) {
    double nearest = 0;
    for (int i = 0; i < 20000; ++i) {
      const double x =
          RoundTo(DType::kF32,
                  random.Uniform(-2, 2) * PowerOfTwo(static_cast<int>(random.Below(270)) - 145));
      const double error = std::abs(FactorOf(factors, x) - x),
                   most = FactorError(factors, std::abs(x));
      if (std::isinf(most)) continue;
      ASSERT_LE(error, most) << x;
      if (std::abs(x) >= 0x1p-126) {
        ASSERT_LE(error, RelativeFactorError(factors) * std::abs(x)) << x;
      }
      if (most > 0) nearest = std::max(nearest, error / most);
    }
    EXPECT_GT(nearest, 0.99);
  }
}

// The same factors as f32 have an error, as bf16 or as numbers with few bits none.
TEST(Tf32, OnlyNumbersWithMoreBitsHaveAnError) {
  const ScopedRecipe following(ParseRecipe("*=f32 dot=tf32", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kDot);
  EXPECT_EQ(ConvertedFactor(Counted(1 + 0x1p-12, DType::kF32)).error(), 0x1p-11);
  EXPECT_EQ(ConvertedFactor(Counted(1.5, DType::kF32)).error(), 0);
  EXPECT_EQ(ConvertedFactor(Counted(1.5, DType::kBF16).WithError({1, 1})).error(), 1);
  EXPECT_GT(ConvertedFactor(Counted(1.5, DType::kF32).WithError({1, 1})).error(), 1);
  const ScopedStep other(Step::kSum);  // a step without factors of products
  EXPECT_EQ(ConvertedFactor(Counted(1 + 0x1p-12, DType::kF32)).error(), 0);
}

struct Products {
  double exact, performed, permitted;
};

// The product of x and a weight of one row, by Dot and by MultiplyByWeights.
Products ProductsOf(const std::vector<double>& x, const std::vector<double>& weight, DType dtype,
                    const std::string& recipe) {
  const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
  const NamedTensor named{"weight", dtype, Tensor<double>({1, weight.size()}, weight)};
  Tensor<Counted> bounds({1, x.size()}), bound({1, 1});
  Tensor<Rounded> numbers({1, x.size()}), number({1, 1});
  for (size_t i = 0; i < x.size(); ++i) {
    bounds.data[i] = Counted(x[i], dtype);
    numbers.data[i] = Rounded(x[i], dtype);
  }
  const Weights<Counted> counted(named);
  const Weights<Rounded> rounded(named);
  MultiplyByWeights(bounds, counted, bound);
  MultiplyByWeights(numbers, rounded, number);
  const std::vector<Counted> counted_row = counted.RowOf(0);
  const std::vector<Rounded> rounded_row = rounded.RowOf(0);
  EXPECT_EQ(Dot<Counted>(bounds.data, counted_row).Permitted(), bound(0, 0).Permitted());
  EXPECT_EQ(Dot<Rounded>(numbers.data, rounded_row).value(), number(0, 0).value());
  return {bound(0, 0).center().high, number(0, 0).value(), bound(0, 0).Permitted()};
}

TEST(Tf32, DotProductsStayWithinTheirBound) {
  for (const std::string recipe : {"dot=tf32", "dot=tf32_truncated", "dot=tf32:tensor_core"}) {
    double nearest = 0;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      Random random(seed);
      std::vector<double> x(1 + seed % 40), weight(x.size());
      for (double& number : x) number = RoundTo(DType::kF32, random.Uniform(-0.1, 2));
      for (double& number : weight) number = RoundTo(DType::kF32, random.Uniform(-0.1, 2));
      const Products y = ProductsOf(x, weight, DType::kF32, "*=f32 " + recipe);
      const double error = std::abs(y.performed - y.exact);
      ASSERT_LE(error, y.permitted) << recipe << " " << x.size() << " terms";
      nearest = std::max(nearest, error / y.permitted);
      EXPECT_LT(ProductsOf(x, weight, DType::kF32, "*=f32").permitted, y.permitted);
    }
    EXPECT_GT(nearest, 0.3) << recipe;
  }
}

// bf16 has fewer bits than TF32: reading it is exact.
TEST(Tf32, ChangesNoProductOf16BitNumbers) {
  const std::vector<double> x = {1.5, -0.75, 3}, weight = {1.0078125, 2, -0.5};
  const Products plain = ProductsOf(x, weight, DType::kBF16, "*=f32");
  const Products y = ProductsOf(x, weight, DType::kBF16, "*=f32 dot=tf32");
  EXPECT_EQ(plain.permitted, y.permitted);
  EXPECT_EQ(plain.performed, y.performed);
}

// (1 + 2^-11) is read as 1 + 2^-10 or as 1.
TEST(Tf32, RoundedNumbersAreReadAsTheRecipeSays) {
  const std::vector<double> x = {1 + 0x1p-11}, weight = {1};
  EXPECT_EQ(ProductsOf(x, weight, DType::kF32, "*=f32").performed, 1 + 0x1p-11);
  EXPECT_EQ(ProductsOf(x, weight, DType::kF32, "*=f32 dot=tf32").performed, 1 + 0x1p-10);
  EXPECT_EQ(ProductsOf(x, weight, DType::kF32, "*=f32 dot=tf32_truncated").performed, 1);
}

}  // namespace
}  // namespace sextant
