#include "reference/number/rounded/rounded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {
namespace {

// Exponentials by doubles are those in double-double, rounded once: also where results are
// subnormal, 0 or infinite.
TEST(RoundedExponentials, AreCorrectlyRounded) {
  constexpr double kEdges[] = {0, -17.33, -9.7, 11.09, 88.72, -87.34, -92.5, -103.3};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const ScopedRecipe following(ParseRecipe("*=" + std::string(NameOf(dtype)), DType::kF32),
                                 DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    Random random(5);
    for (int i = 0; i < 100000; ++i) {
      const double size = i % 3 == 0 ? 104 : i % 3 == 1 ? 1 : 0x1p-6;
      const double at = kEdges[i % std::size(kEdges)];
      const double x = RoundTo(dtype, at + random.Uniform(-size, size));
      ASSERT_EQ(Exp(Rounded(x)).value(), RoundTo(dtype, exp(DoubleDouble(x)))) << x;
    }
    EXPECT_EQ(Exp(Rounded(-INFINITY)).value(), 0);
    EXPECT_EQ(Exp(Rounded(INFINITY)).value(), INFINITY);
    EXPECT_TRUE(std::isnan(Exp(Rounded(std::nan(""))).value()));
  }
}

TEST(RoundedSigmoid, IsCorrectlyRounded) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const ScopedRecipe following(ParseRecipe("*=" + std::string(NameOf(dtype)), DType::kF32),
                                 DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    Random random(7);
    for (int i = 0; i < 100000; ++i) {
      const double size = i % 3 == 0 ? 104 : i % 3 == 1 ? 1 : 0x1p-12;
      const double x = RoundTo(dtype, random.Uniform(-size, size));
      ASSERT_EQ(Sigmoid(Rounded(x)).value(), RoundTo(dtype, sigmoid(DoubleDouble(x)))) << x;
    }
    EXPECT_EQ(Sigmoid(Rounded(-INFINITY)).value(), 0);
    EXPECT_EQ(Sigmoid(Rounded(INFINITY)).value(), 1);
    EXPECT_TRUE(std::isnan(Sigmoid(Rounded(std::nan(""))).value()));
  }
}

// The result of a function for one seed: `exact` itself, or with equal probability one of its
// neighbours.
void ExpectStochastic(DType dtype, const DoubleDouble& exact, const std::vector<double>& results) {
  const double nearest = RoundTo(dtype, exact);
  const double off = (exact.high - nearest) + exact.low;
  const double other = off == 0  ? nearest
                       : off > 0 ? NextUp(dtype, nearest)
                                 : NextDown(dtype, nearest);
  const auto count = std::ranges::count(results, nearest);
  EXPECT_EQ(count + (off == 0 ? 0 : std::ranges::count(results, other)),
            static_cast<ptrdiff_t>(results.size()));
  if (off == 0) return;
  EXPECT_GT(count, 0);
  EXPECT_LT(count, static_cast<ptrdiff_t>(results.size()));
}

// 64 seeds: all give the same neighbour with probability 2^-63.
TEST(RoundedFunctions, GoToBothNeighboursWithSeeds) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const ScopedRecipe following(ParseRecipe("*=" + std::string(NameOf(dtype)), DType::kF32),
                                 DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    Random random(8);
    for (int i = 0; i < 300; ++i) {
      const double x = i == 0 ? 0 : RoundTo(dtype, random.Uniform(-20, 20));
      std::vector<double> exponentials, sigmoids;
      for (uint64_t seed = 0; seed < 64; ++seed) {
        const ScopedStochasticRounding rounding(seed);
        exponentials.push_back(Exp(Rounded(x)).value());
        sigmoids.push_back(Sigmoid(Rounded(x)).value());
      }
      SCOPED_TRACE(x);
      ExpectStochastic(dtype, exp(DoubleDouble(x)), exponentials);
      ExpectStochastic(dtype, sigmoid(DoubleDouble(x)), sigmoids);
    }
  }
}

// In every format, by any number of vectors and beyond the range of the quick way.
TEST(RoundedExponentials, OfAllAreThoseOfEach) {
  Random random(6);
  for (const char* recipe : {"*=f32", "*=f16", "*=bf16", "*=f64", "*=exact", "*=f32 flush"}) {
    const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    for (size_t n = 0; n < 40; ++n) {
      std::vector<Rounded> numbers;
      for (size_t i = 0; i < n; ++i)
        numbers.emplace_back(random.Uniform(-1, 1) * (i % 3 == 0   ? 1000
                                                      : i % 3 == 1 ? 20
                                                                   : 0x1p-12));
      if (n > 20) numbers[7] = Rounded(-INFINITY), numbers[20] = Rounded(std::nan(""));
      const std::vector<Rounded> all = ExpOfAll(numbers);
      ASSERT_EQ(all.size(), n);
      for (size_t i = 0; i < n; ++i) ExpectSameNumber(all[i].value(), Exp(numbers[i]).value());
    }
  }
}

}  // namespace
}  // namespace sextant
