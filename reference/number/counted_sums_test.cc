// What sums may err by: the worst case of any order, what is likely, tensor cores, flushing.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "reference/number/counted.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// Terms of one sum, their exact total, and what the recipe's rule says and does about them.
struct Sum {
  Sum(const std::vector<double>& terms, const std::string& recipe) {
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

TEST(CountedSums, IndependentRoundingsStayBelowWhatIsLikely) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Sum sum(RandomTerms(4096, -1, 2, seed), "*=f32 sum=f32:sequential");
    EXPECT_LE(sum.ErrorOf(sum.performed), sum.bound.Likely());
    EXPECT_LT(sum.bound.Likely(), sum.bound.Permitted() / 7);
  }
}

// Each addition cut off instead of rounded: allowed at worst, and not likely.
TEST(CountedSums, ABiasedSumIsWithinTheWorstCaseAndBeyondWhatIsLikely) {
  const std::vector<double> terms = RandomTerms(4096, 0.5, 1, 7);
  const Sum sum(terms, "*=f32");
  double cut = 0;
  for (const double x : terms) cut = CutOff(cut + x);
  EXPECT_GT(sum.ErrorOf(cut), sum.bound.Likely());
  EXPECT_LE(sum.ErrorOf(cut), sum.bound.Permitted());
}

// 1 + 1.9 * 2^-24: rounding would lose 0.1 * 2^-23, aligning loses all of the second term.
TEST(CountedSums, TensorCoresCutOffWhatRoundingKeeps) {
  const std::vector<double> terms = {1, 1.875 * 0x1p-24};
  const Sum cores(terms, "*=f32 sum=f32:tensor_core"), any(terms, "*=f32");
  EXPECT_EQ(cores.performed, 1);
  EXPECT_GT(any.ErrorOf(cores.performed), any.bound.Permitted());
  EXPECT_LE(cores.ErrorOf(cores.performed), cores.bound.Permitted());
  EXPECT_EQ(cores.bound.Likely(), cores.bound.Permitted());
}

TEST(CountedSums, TensorCoresKeepToTheirBound) {
  double nearest = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const size_t n = 1 + seed % 67;
    const Sum sum(RandomTerms(n, seed % 2 ? -1 : 0.25, 1, seed), "*=f32 sum=f32:tensor_core");
    ASSERT_LE(sum.ErrorOf(sum.performed), sum.bound.Permitted()) << n << " terms";
    nearest = std::max(nearest, sum.ErrorOf(sum.performed) / sum.bound.Permitted());
  }
  EXPECT_GT(nearest, 0.1);  // the bound is of use
}

// 2^-100 * 2^-30 is subnormal in f32, and exact unless it is flushed.
TEST(CountedSums, FlushedSubnormalsArePermittedWhereTheRecipeSaysSo) {
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
// normal: nothing but the sum is flushed.
TEST(CountedSums, FlushedSumsArePermittedWhereTheRecipeSaysSo) {
  const std::vector<double> terms = {1.5 * 0x1p-125, -1.25 * 0x1p-125};
  const Sum kept(terms, "*=f32"), flushed(terms, "*=f32 flush");
  EXPECT_EQ(kept.performed, 0x1p-127);
  EXPECT_LT(kept.bound.Permitted(), 0x1p-127);
  EXPECT_EQ(flushed.performed, 0);
  EXPECT_GE(flushed.bound.Permitted(), 0x1p-127);
  EXPECT_GE(flushed.bound.Likely(), 0x1p-127);
  EXPECT_LE(flushed.bound.Permitted(), 0x1p-125);
}

// An operand that is subnormal may be taken for 0 on entry; a normal one may not.
TEST(CountedSums, FlushedOperandsCount) {
  const ScopedRecipe following(ParseRecipe("*=f32 flush", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kRotate);
  EXPECT_GE((Counted(0x1p-130, DType::kF32) * Counted(0x1p100, DType::kF32)).Permitted(), 0x1p-30);
  EXPECT_EQ((Rounded(0x1p-130) * Rounded(0x1p100)).value(), 0);
  EXPECT_EQ((Counted(0x1p-120, DType::kF32) * Counted(0x1p100, DType::kF32)).Permitted(), 0);
}

}  // namespace
}  // namespace sextant
