#include "oracle/diagnosis/recipe/recipe_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/diagnosis/recipe/judged_answers_test.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;

TEST(RecipeSearch, FindsFrequenciesComputedFromThePreviousOne) {
  Answers answers("native frequency=f32:iterated", "native");
  answers.Add("rope pairing=half H=1 S=4 D=128 @position=0,1,511,8191");
  answers.Add("rope pairing=half H=1 S=2 D=8 @position=0,1");
  const auto found = answers.Search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "native frequency=f32:iterated");
  EXPECT_EQ(found->changes, 1);
  EXPECT_TRUE(found->failing.empty());
  EXPECT_GT(found->ulps, found->ulps_before);
}

// Both permit the answers of the other here; the answers themselves tell them apart.
TEST(RecipeSearch, TellsMethodsApartByTheirOwnAnswers) {
  for (const char* const method :
       {"native frequency=f32:iterated", "native frequency=f32:power_chain"}) {
    Answers answers(method, "native");
    answers.Add("rope_cos_sin layout=halves R=96 base=10000 @position=511,8191,131071");
    const auto found = answers.Search();
    ASSERT_TRUE(found) << method;
    EXPECT_EQ(found->recipe, method);
  }
}

TEST(RecipeSearch, FindsATableThatIsKeptInTheDtype) {
  Answers answers("f32_compute table=bf16", "f32_compute");
  answers.Add("rope pairing=half H=4 S=4 D=64 dtype=bf16 @position=0,1,511,8191");
  const auto found = answers.Search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "f32_compute table=T");
  EXPECT_TRUE(found->failing.empty());
}

// Neither step is in the other operation. With all steps in 16 bits, the sums of 2048 squares would
// permit any value.
TEST(RecipeSearch, FindsTwoSteps) {
  Answers answers("native scale=bf16 softmax=f16", "native");
  answers.Add("rms_norm N=4 M=2048");
  answers.Add("softmax N=2 M=64");
  const auto one = answers.Search(1), two = answers.Search(2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->failing.size(), 1);
  EXPECT_EQ(two->recipe, "native scale=bf16 softmax=f16");
  EXPECT_EQ(two->changes, 2);
  EXPECT_TRUE(two->failing.empty());
}

TEST(RecipeSearch, FindsArithmeticInF32OnF64Tensors) {
  Answers answers("*=f32 store=T", "native");
  answers.Add("rms_norm N=4 M=64 dtype=f64");
  answers.Add("rms_norm N=4 M=64 dtype=f32");
  const auto found = answers.Search(1);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->failing.empty());
}

// If everything conforms, the narrowest standard recipe is found.
TEST(RecipeSearch, FindsANarrowerRecipeOfConformingAnswers) {
  Answers answers("exact_table", "native");
  answers.Add("rope pairing=half H=4 S=16 D=64");
  const auto found = answers.Search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "exact_table");
  EXPECT_LT(found->ulps, found->ulps_before);
  Answers native("native", "native");
  native.Add("rope pairing=half H=4 S=16 D=64 dtype=bf16");
  EXPECT_EQ(native.Search()->recipe, "native");
  EXPECT_EQ(native.Search()->changes, 0);
}

TEST(RecipeSearch, ABugHasNoRecipe) {
  Answers answers("native", "native");
  answers.Add("rms_norm N=2 M=16");
  answers.Spoil(-1);
  EXPECT_FALSE(answers.Search());
}

TEST(RecipeSearch, CountsTheAnswersThatStillFail) {
  Answers answers("native frequency=f32:iterated", "native");
  answers.Add("rope pairing=half H=1 S=4 D=128 @position=0,1,511,8191");
  answers.Add("rope pairing=half H=1 S=4 D=64 @position=0,1,511,8191");
  answers.Spoil(-1);
  const auto found = answers.Search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "native frequency=f32:iterated");
  EXPECT_THAT(found->failing, ElementsAre(1));
}

// Sums in 16 bits permit these errors, but then nearly all elements would have some.
TEST(RecipeSearch, FewLargeErrorsAmongSmallOnesHaveNoRecipe) {
  Answers answers("native", "native");
  answers.Add("linear N=32 M=256 F=64");
  answers.Spoil(1.2, 50);
  EXPECT_FALSE(answers.Search(1));
}

// Sums in bf16 permit these errors, but their own are far smaller.
TEST(RecipeSearch, ErrorsFarAboveThoseOfTheRecipeItselfHaveNoRecipe) {
  Answers answers("native", "native");
  answers.Add("softmax N=32 M=128");
  answers.Spoil(-1, 1);
  EXPECT_FALSE(answers.Search(1));
}

// In f16 the sum of 4096 squares may have any value.
TEST(RecipeSearch, ARecipeByWhichNothingCanFailExplainsNothing) {
  Answers answers("native", "native");
  answers.Add("rms_norm N=1 M=4096");
  answers.Spoil(1.5);
  const auto found = answers.Search();
  EXPECT_TRUE(!found || found->judgeable >= 0.9 * found->judgeable_before);
}

TEST(CountChanges, CountsMethodsAndAccuracies) {
  const auto changes = [](const char* text, DType dtype) {
    return CountChanges(ParseRecipe("native", dtype), ParseRecipe(text, dtype), dtype);
  };
  EXPECT_EQ(changes("native frequency=f32:iterated", DType::kF32), 1);
  EXPECT_EQ(changes("native frequency=f32", DType::kF32), 0);
  EXPECT_EQ(changes("native frequency=f32/2", DType::kF32), 1);
  EXPECT_EQ(changes("native frequency=f32/2", DType::kF64), 2);
  EXPECT_EQ(changes("native table=bf16 rotate=bf16", DType::kF32), 2);
}

}  // namespace
}  // namespace sextant::oracle
