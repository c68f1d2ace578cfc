#include "oracle/diagnosis/recipe/sums_in_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/diagnosis/recipe/judged_answers_test.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(OrderOfSums, IsToldByTheBits) {
  const std::pair<SumOrder, const char*> orders[] = {
      {{SumOrder::Kind::kForwards, 1}, "from left to right"},
      {{SumOrder::Kind::kBackwards, 1}, "from right to left"},
      {{SumOrder::Kind::kHalves, 1}, "by halves"},
      {{SumOrder::Kind::kLanes, 8}, "in 8 lanes"},
      {{SumOrder::Kind::kBlocks, 16}, "in blocks of 16"}};
  for (const auto& [order, text] : orders) {
    const ScopedSumOrder in_order(order);
    Answers answers("native", "native");
    answers.Add("rms_norm N=6 M=500");
    answers.Add("linear N=3 F=5 M=300");
    const auto found = OrderOfSums(answers.Judged(), "native");
    ASSERT_TRUE(found) << text;
    EXPECT_THAT(found->orders, ElementsAre(text));
    EXPECT_EQ(found->elements, 6 * 500 + 3 * 5);
  }
}

TEST(OrderOfSums, ARecipeSaysIt) {
  Answers answers("native sum=f32:pairwise", "native");
  answers.Add("rms_norm N=40 M=500");
  EXPECT_EQ(OrderOfSums(answers.Judged(), "native")->recipe, "native sum=T:pairwise");
}

// In bf16 most sums are rounded to the same number, whatever the order.
TEST(OrderOfSums, DoesNotShowIfAllOrdersGiveTheSameBits) {
  Answers answers("native", "native");
  answers.Add("rms_norm N=2 M=3 dtype=bf16");
  EXPECT_GT(OrderOfSums(answers.Judged(), "native")->orders.size(), 3);
}

TEST(OrderOfSums, IsUnknownIfNoOrderGivesTheBits) {
  Answers answers("native", "native");
  answers.Add("rms_norm N=2 M=64");
  answers.Spoil(1 + 0x1p-22);
  EXPECT_THAT(OrderOfSums(answers.Judged(), "native")->orders, IsEmpty());
}

TEST(OrderOfSums, NeedsSums) {
  Answers answers("native", "native");
  answers.Add("activation kind=gelu N=2 F=8");
  EXPECT_FALSE(OrderOfSums(answers.Judged(), "native"));
  Answers exact("native", "native");
  exact.Add("rms_norm N=2 M=8");
  EXPECT_FALSE(OrderOfSums(exact.Judged(), "exact"));
}

}  // namespace
}  // namespace sextant::oracle
