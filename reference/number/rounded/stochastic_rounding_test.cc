#include "reference/number/rounded/stochastic_rounding.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
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

// Numbers with all kinds of sums and products in f32: near 0, near the largest, exact, infinite.
std::vector<Rounded> RandomNumbers(Random& random, size_t count, DType format) {
  const double exponent = random.OneOf(std::vector<double>{-149, -140, -75, -2, 0, 3, 63, 127});
  std::vector<Rounded> numbers;
  for (size_t i = 0; i < count; ++i) {
    const double x = RoundTo(format, std::ldexp(random.Uniform(-1.9, 1.9), int(exponent)));
    numbers.emplace_back(random.Below(9) == 0 ? -0.0 : random.Below(300) == 0 ? INFINITY : x);
  }
  return numbers;
}

void ExpectSameBits(const Rounded& a, const Rounded& b) {
  if (std::isnan(b.value())) {
    EXPECT_TRUE(std::isnan(a.value()));
  } else {
    EXPECT_EQ(std::bit_cast<uint64_t>(a.value()), std::bit_cast<uint64_t>(b.value()));
  }
}

// Long loops in f32 and in f64 have code of their own.
void ExpectSumsAsOneByOne(DType format) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + random.Below(20);
    const std::vector<Rounded> a = RandomNumbers(random, count, format);
    const std::vector<Rounded> b = RandomNumbers(random, count, format);
    Rounded sum = Converted(a[0]), of_products = a[0] * b[0];
    for (size_t i = 1; i < count; ++i) {
      sum = sum + a[i];
      of_products = of_products + a[i] * b[i];
    }
    ExpectSameBits(SumOf(std::span<const Rounded>(a)), sum);
    ExpectSameBits(SumOfProducts(a, b), of_products);
  }
}

TEST(ScopedStochasticRounding, SumsHaveTheBitsOfTheirAdditions) {
  for (const char* const recipe : {"*=f32", "*=bf16", "*=f32 flush", "*=f64", "*=f64 flush"}) {
    SCOPED_TRACE(recipe);
    const DType format = std::string(recipe).starts_with("*=f64") ? DType::kF64 : DType::kF32;
    const ScopedRecipe following(ParseRecipe(recipe, format), format);
    ExpectSumsAsOneByOne(format);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const ScopedStochasticRounding rounding(seed);
      ExpectSumsAsOneByOne(format);
    }
  }
}

}  // namespace
}  // namespace sextant
