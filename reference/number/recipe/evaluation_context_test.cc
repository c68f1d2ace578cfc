#include "reference/number/recipe/evaluation_context.h"

#include <gtest/gtest.h>

#include "reference/number/exact/interval.h"

namespace sextant {
namespace {

Recipe NativeInBf16() { return ParseRecipe("native", DType::kBF16); }

TEST(ScopedStore, RoundsToTheTypeOfTheOutput) {
  const ScopedRecipe recipe(NativeInBf16(), DType::kBF16);
  const ScopedStore store(DType::kF32);  // a wide output of a bf16 case
  EXPECT_EQ(CurrentRule().format, DType::kF32);
}

TEST(ScopedStore, GivesWayToAnInnerStepAndComesBack) {
  const ScopedRecipe recipe(NativeInBf16(), DType::kBF16);
  const ScopedStore store(DType::kF32);
  {
    const ScopedStep table(Step::kTable);
    EXPECT_EQ(CurrentRule().format, DType::kBF16);
  }
  EXPECT_EQ(CurrentRule().format, DType::kF32);
}

TEST(ScopedStore, RestoresAnOuterStore) {
  const ScopedRecipe recipe(NativeInBf16(), DType::kBF16);
  const ScopedStore outer(DType::kF64);
  { const ScopedStore inner(DType::kF32); }
  EXPECT_EQ(CurrentRule().format, DType::kF64);
}

TEST(ScopedStore, NeedsNoRecipe) {
  const ScopedStore store(DType::kF32);
  EXPECT_EQ(this_context.rule, nullptr);
}

TEST(Scoped, RestoresItsMember) {
  const Slice* const slice = reinterpret_cast<const Slice*>(&this_context);
  {
    const ScopedPrecision precision(300);
    const ScopedSumOrder order({SumOrder::Kind::kLanes, 4});
    const ScopedStochasticRounding rounding(7);
    const ScopedSlice part(slice);
    EXPECT_EQ(this_context.precision, 300);
    EXPECT_EQ(this_context.sum_order.size, 4u);
    EXPECT_EQ(this_context.rounding_seed, 7u);
    EXPECT_EQ(this_context.slice, slice);
  }
  EXPECT_EQ(this_context.precision, 192);
  EXPECT_EQ(this_context.sum_order.kind, SumOrder::Kind::kForwards);
  EXPECT_FALSE(this_context.rounding_seed);
  EXPECT_EQ(this_context.slice, nullptr);
}

TEST(CurrentRule, RemembersTheSteps) {
  const ScopedRecipe recipe(NativeInBf16(), DType::kBF16);
  TakeStepsPerformed();
  {
    const ScopedStep dot(Step::kDot);
    CurrentRule();
    const ScopedStep unused(Step::kSum);
  }
  EXPECT_EQ(TakeStepsPerformed(), 1u << static_cast<unsigned>(Step::kDot));
  EXPECT_EQ(TakeStepsPerformed(), 0u);
}

}  // namespace
}  // namespace sextant
