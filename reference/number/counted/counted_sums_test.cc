// Error bounds of sums: the worst case in any order, the likely error, tensor cores, flushing.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// A sum of terms: the exact total, the bound by the recipe, and the result of an implementation.
struct CountedSum {
  CountedSum(const std::vector<double>& terms, const std::string& recipe) {
    const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
    const ScopedStep at(Step::kSum);
    std::vector<Counted> counted;
    std::vector<Rounded> rounded;
    for (const double x : terms) {
      exact += DoubleDouble(x);
      counted.emplace_back(x, DType::kF32);
      rounded.emplace_back(x);
    }
    bound = SumOf(counted);
    performed = SumOf(rounded).value();
  }
  double ErrorOf(double got) const { return std::abs((DoubleDouble(got) - exact).high); }

  DoubleDouble exact;
  Counted bound;
  double performed = 0;
};

std::vector<double> RandomTerms(size_t n, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> terms(n);
  for (double& x : terms)
    x = RoundTo(DType::kF32, low + (high - low) * static_cast<double>(random()) / 0x1p32);
  return terms;
}

double CutOff(double x) {
  const double y = RoundTo(DType::kF32, x);
  return std::abs(y) > std::abs(x) ? std::nextafter(static_cast<float>(y), 0.0f) : y;
}

TEST(CountedSums, IndependentRoundingsStayWithinTheLikelyBound) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const CountedSum sum(RandomTerms(4096, -1, 2, seed), "*=f32 sum=f32:sequential");
    EXPECT_LE(sum.ErrorOf(sum.performed), sum.bound.Likely());
    EXPECT_LT(sum.bound.Likely(), sum.bound.Permitted() / 7);
  }
}

// Every addition is cut off instead of rounded.
TEST(CountedSums, ABiasedSumIsWithinTheWorstCaseAndBeyondTheLikelyBound) {
  const std::vector<double> terms = RandomTerms(4096, 0.5, 1, 7);
  const CountedSum sum(terms, "*=f32");
  double cut = 0;
  for (const double x : terms) cut = CutOff(cut + x);
  EXPECT_GT(sum.ErrorOf(cut), sum.bound.Likely());
  EXPECT_LE(sum.ErrorOf(cut), sum.bound.Permitted());
}

// 1 + 1.9 * 2^-24: rounding loses 0.1 * 2^-23, alignment loses the whole second term.
TEST(CountedSums, TensorCoresMayExceedTheBoundOfRounding) {
  const std::vector<double> terms = {1, 1.875 * 0x1p-24};
  const CountedSum cores(terms, "*=f32 sum=f32:tensor_core"), any(terms, "*=f32");
  EXPECT_EQ(cores.performed, 1);
  EXPECT_GT(any.ErrorOf(cores.performed), any.bound.Permitted());
  EXPECT_LE(cores.ErrorOf(cores.performed), cores.bound.Permitted());
  EXPECT_EQ(cores.bound.Likely(), cores.bound.Permitted());
}

TEST(CountedSums, TensorCoresStayWithinTheirBound) {
  double nearest = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const size_t n = 1 + seed % 67;
    const CountedSum sum(
        RandomTerms(n, seed % 2 ? -1 : 0.25, 1, seed),
        seed % 3 == 0 ? "*=f32 sum=f32:tensor_core/1024" : "*=f32 sum=f32:tensor_core");
    ASSERT_LE(sum.ErrorOf(sum.performed), sum.bound.Permitted()) << n << " terms";
    nearest = std::max(nearest, sum.ErrorOf(sum.performed) / sum.bound.Permitted());
  }
  EXPECT_GT(nearest, 0.1);  // the bound is not far too wide
}

// 1 + 1.9 * 2^-14 with 14 bits: alignment loses the second term.
TEST(CountedSums, TensorCoresMayKeepFewerBits) {
  const std::vector<double> terms = {1, 1.875 * 0x1p-14};
  const CountedSum cores(terms, "*=f32 sum=f32:tensor_core/1024"),
      whole(terms, "*=f32 sum=f32:tensor_core");
  EXPECT_EQ(cores.performed, 1);
  EXPECT_GT(whole.ErrorOf(cores.performed), whole.bound.Permitted());
  EXPECT_LE(cores.ErrorOf(cores.performed), cores.bound.Permitted());
}

// The exact sum of terms that lie anywhere in their enclosures, and how far the centre of their sum
// is from it, relative to its drift.
double ShareOfDrift(Random& random, size_t n, double cancels) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kSum);
  const ScopedPrecision exact_sums(4400);
  std::vector<Counted> terms;
  Interval exact(0.0);
  for (size_t i = 0; i < n; ++i) {
    const DoubleDouble center = TwoSum(random.Number(20), random.Number(20) * 0x1p-60);
    const double drift = random.Below(2) ? std::abs(center.high) * 0x1p-104 : 0;
    const double side = random.Uniform(-1, 1);
    for (const double sign : {1.0, -cancels}) {
      if (sign == 0) continue;
      terms.push_back(Counted::Of(sign < 0 ? -center : center, drift, DType::kF32, false));
      const Interval x = Interval(center.high) + Interval(center.low) + Interval(side * drift);
      exact = sign < 0 ? exact - x : exact + x;
    }
  }
  const Counted sum = SumOf(terms);
  const double distance = RadiusAround(exact, sum.center().high, sum.center().low);
  EXPECT_EQ(sum.drift() == 0 && distance > 0, false) << n;
  return distance == 0 ? 0 : distance / sum.drift();
}

TEST(CountedSums, DriftsEncloseTheExactSums) {
  Random random(4);
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const double share = ShareOfDrift(random, 1 + random.Below(40), i % 2);
    ASSERT_LE(share, 1 + 0x1p-50) << i;  // the distance is rounded up
    largest = std::max(largest, share);
  }
  EXPECT_GT(largest, 0.5);  // of a single term that lies near the end of its enclosure
}

TEST(CountedSums, ExactSumsHaveNoDrift) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kSum);
  const auto sum = [](const std::vector<double>& terms) {
    std::vector<Counted> counted;
    for (const double x : terms) counted.emplace_back(x, DType::kF32);
    return SumOf(counted);
  };
  EXPECT_EQ(sum({1, 0x1p-60, -1, 3, 0x1p-60}).drift(), 0);
  EXPECT_EQ(sum({1, 0x1p-60, -1, 3, 0x1p-60}).center(), DoubleDouble(3, 0x1p-59));
  EXPECT_EQ(sum({0x1p100, 1, -0x1p100}).drift(), 0);
  // 1 + 2^-60 + 2^-120 has no two parts of 53 bits.
  EXPECT_GE(sum({1, 0x1p-60, 0x1p-120}).drift(), 0x1p-120);
  EXPECT_LE(sum({1, 0x1p-60, 0x1p-120}).drift(), 0x1.0001p-120);
}

// 2^-100 * 2^-30 is subnormal in f32, and exact unless it is flushed.
TEST(CountedSums, FlushedProductsArePermittedIfTheRecipeFlushes) {
  const auto product = [](const std::string& recipe) {
    const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
    const ScopedStep at(Step::kRotate);
    const Counted bound = Counted(0x1p-100, DType::kF32) * Counted(0x1p-30, DType::kF32);
    return std::pair(bound.Permitted(), (Rounded(0x1p-100) * Rounded(0x1p-30)).value());
  };
  EXPECT_EQ(product("*=f32"), std::pair(0.0, 0x1p-130));
  const auto [permitted, performed] = product("*=f32 flush");
  EXPECT_EQ(performed, 0);
  EXPECT_GE(permitted, 0x1p-130);
  EXPECT_LE(permitted, 0x1p-126);
}

// 1.5 * 2^-125 - 1.25 * 2^-125 is subnormal in f32, and exact unless it is flushed. Both terms are
// normal: only the sum is flushed.
TEST(CountedSums, FlushedSumsArePermittedIfTheRecipeFlushes) {
  const std::vector<double> terms = {1.5 * 0x1p-125, -1.25 * 0x1p-125};
  const CountedSum kept(terms, "*=f32"), flushed(terms, "*=f32 flush");
  EXPECT_EQ(kept.performed, 0x1p-127);
  EXPECT_LT(kept.bound.Permitted(), 0x1p-127);
  EXPECT_EQ(flushed.performed, 0);
  EXPECT_GE(flushed.bound.Permitted(), 0x1p-127);
  EXPECT_GE(flushed.bound.Likely(), 0x1p-127);
  EXPECT_LE(flushed.bound.Permitted(), 0x1p-125);
}

// A subnormal operand may count as 0; a normal one may not.
TEST(CountedSums, FlushedOperandsArePermittedIfTheRecipeFlushes) {
  const ScopedRecipe following(ParseRecipe("*=f32 flush", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kRotate);
  EXPECT_GE((Counted(0x1p-130, DType::kF32) * Counted(0x1p100, DType::kF32)).Permitted(), 0x1p-30);
  EXPECT_EQ((Rounded(0x1p-130) * Rounded(0x1p100)).value(), 0);
  EXPECT_EQ((Counted(0x1p-120, DType::kF32) * Counted(0x1p100, DType::kF32)).Permitted(), 0);
}

}  // namespace
}  // namespace sextant
