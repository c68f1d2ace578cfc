#include "oracle/diagnosis/recipe/recipe_of_bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/diagnosis/recipe/judged_answers_test.h"

namespace sextant::oracle {
namespace {

std::optional<RecipeOfBits> OfBits(const Answers& answers) {
  return FindRecipeOfBits(answers.Judged(), "native", {});
}

// The bounds of these recipes permit anything, or each other's answers.
TEST(FindRecipeOfBits, TellsUpToThreeSteps) {
  for (const char* const recipe :
       {"native rsqrt=bf16", "native square=f16 scale=bf16", "native sum=f32:pairwise",
        "native square=bf16 scale=f16 weigh=bf16", "native flush sum=bf16"}) {
    Answers answers(recipe, "native");
    answers.Add("rms_norm N=4 M=300");
    answers.Add("rms_norm N=2 M=70");
    const auto found = OfBits(answers);
    ASSERT_TRUE(found) << recipe;
    EXPECT_EQ(found->elements, 4 * 300 + 2 * 70);
    // The same answers, whatever the words.
    Answers again(found->recipe, "native");
    again.Add("rms_norm N=4 M=300");
    EXPECT_EQ(again.Judged()[0].outputs[0].values.data, answers.Judged()[0].outputs[0].values.data)
        << recipe << " " << found->recipe;
  }
}

TEST(FindRecipeOfBits, PrefersTheStartAndStandardRecipes) {
  for (const char* const recipe : {"native", "f32_compute", "all_native"}) {
    Answers answers(recipe, "native");
    answers.Add("rope pairing=half H=2 S=4 D=32 dtype=bf16 @position=0,9,300,5000");
    ASSERT_TRUE(OfBits(answers));
    EXPECT_EQ(OfBits(answers)->recipe, recipe);
  }
}

// The largest number of the answer is one ulp off: no recipe computes that.
TEST(FindRecipeOfBits, OneOtherBitIsAnotherRecipe) {
  Answers answers("native", "native");
  answers.Add("rms_norm N=2 M=16");
  answers.Spoil(1 + 0x1p-22);
  EXPECT_FALSE(OfBits(answers));
}

}  // namespace
}  // namespace sextant::oracle
