// The order in which Rounded adds terms.
#include "reference/number/recipe/sum_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "reference/number/real.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

using Kind = SumOrder::Kind;

double SumIn(SumOrder order, const std::vector<double>& terms, const char* recipe = "*=f32") {
  const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
  const ScopedStep at(Step::kSum);
  const ScopedSumOrder in_order(order);
  std::vector<Rounded> rounded;
  for (const double x : terms) rounded.emplace_back(x);
  return SumOf(rounded).value();
}

// 2^-24 is half a unit in the last place of 1; ties round to even.
constexpr double kHalf = 0x1p-24;

TEST(SumOrder, ForwardsLosesEachHalfUnit) {
  EXPECT_EQ(SumIn({Kind::kForwards}, {1, kHalf, kHalf}), 1);
  EXPECT_EQ(SumIn({Kind::kForwards}, {kHalf, kHalf, 1}), 1 + 2 * kHalf);
}

TEST(SumOrder, BackwardsAddsTheLastTermsFirst) {
  EXPECT_EQ(SumIn({Kind::kBackwards}, {1, kHalf, kHalf}), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kBackwards}, {kHalf, kHalf, 1}), 1);
}

TEST(SumOrder, LargestFirstComparesMagnitudes) {
  EXPECT_EQ(SumIn({Kind::kLargestFirst}, {kHalf, kHalf, 1}), 1);
  EXPECT_EQ(SumIn({Kind::kLargestFirst}, {-kHalf, -kHalf, -1}), -1);
  EXPECT_EQ(SumIn({Kind::kForwards}, {-kHalf, -kHalf, -1}), -1 - 2 * kHalf);
}

TEST(SumOrder, HalvesAddsEachHalfSeparately) {
  EXPECT_EQ(SumIn({Kind::kHalves}, {1, kHalf, kHalf, kHalf}), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kHalves}, {kHalf, 1, kHalf}), 1);  // kHalf + (1 + kHalf)
}

// With two lanes, terms i and i + 2 share a lane.
TEST(SumOrder, LanesTakeTermsAlternately) {
  EXPECT_EQ(SumIn({Kind::kLanes, 2}, {0.5, kHalf, 0.5, kHalf}), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kLanes, 2}, {0.5, 0.5, kHalf, kHalf}), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kLanes, 64}, {1, kHalf, kHalf}), 1);  // as forwards
}

TEST(SumOrder, BlocksTakeConsecutiveTerms) {
  EXPECT_EQ(SumIn({Kind::kBlocks, 2}, {0.5, 0.5, kHalf, kHalf}), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kBlocks, 2}, {1, kHalf, kHalf}), 1);
}

TEST(SumOrder, IsIgnoredIfTheRecipeNamesAForm) {
  const std::vector<double> terms = {1, kHalf, kHalf};
  EXPECT_EQ(SumIn({Kind::kBackwards}, terms, "*=f32 sum=f32:sequential"), 1);
  EXPECT_EQ(SumIn({Kind::kBackwards}, terms, "*=f32 sum=f32:pairwise"), 1 + 2 * kHalf);
  EXPECT_EQ(SumIn({Kind::kBackwards}, terms, "*=f32 sum=exact store=f32"), 1 + 2 * kHalf);
}

TEST(SumOrder, EndsWithItsScope) {
  {
    const ScopedSumOrder outer({Kind::kBackwards});
    { const ScopedSumOrder inner({Kind::kLanes, 4}); }
    EXPECT_EQ(this_context.sum_order.kind, Kind::kBackwards);
  }
  EXPECT_EQ(this_context.sum_order.kind, Kind::kForwards);
}

TEST(SumOrder, TheSumOfNoTermsIsZero) {
  for (const Kind kind : {Kind::kHalves, Kind::kLanes, Kind::kBlocks, Kind::kLargestFirst})
    EXPECT_EQ(SumIn({kind, 4}, {}), 0);
}

}  // namespace
}  // namespace sextant
