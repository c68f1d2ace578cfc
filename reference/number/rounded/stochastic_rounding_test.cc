#include "reference/number/rounded/stochastic_rounding.h"

#include <gtest/gtest.h>

#include <set>

#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

constexpr double kUlp = 0x1p-23;  // of f32 above 1

std::set<double> Sums(double a, double b) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  std::set<double> sums;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    const ScopedStochasticRounding rounding(seed);
    sums.insert((Rounded(a) + Rounded(b)).value());
  }
  return sums;
}

TEST(ScopedStochasticRounding, BothNeighboursOccur) {
  EXPECT_EQ(Sums(1, kUlp / 8), (std::set<double>{1, 1 + kUlp}));
  EXPECT_EQ(Sums(-1, kUlp / 8), (std::set<double>{-1, -1 + kUlp / 2}));
}

TEST(ScopedStochasticRounding, DoesNotChangeExactResults) {
  EXPECT_EQ(Sums(1, kUlp), (std::set<double>{1 + kUlp}));
}

TEST(ScopedStochasticRounding, RoundsTheSameNumberInTheSameDirection) {
  const ScopedRecipe following(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  const ScopedStochasticRounding rounding(7);
  for (double x = 1; x < 9; x += 0.3)
    EXPECT_EQ(Converted(Rounded(x)).value(), Converted(Rounded(x)).value());
}

TEST(ScopedStochasticRounding, EndsWithItsScope) {
  for (uint64_t seed = 0; seed < 64; ++seed) ScopedStochasticRounding{seed};
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  for (double x = 1; x < 9; x += 0.3)
    EXPECT_EQ(Converted(Rounded(x)).value(), static_cast<float>(x));
}

}  // namespace
}  // namespace sextant
