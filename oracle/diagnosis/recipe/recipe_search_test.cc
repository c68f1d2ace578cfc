#include "oracle/diagnosis/recipe/recipe_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/diagnosis/recipe/judged_answers_test.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"
#include "reference/case/intermediate.h"

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

// A kernel that adds the residual in f32 to what it has projected, rounds once, and stores all
// other intermediates. It answers the projection rounded.
void AddResidualBeforeRounding(const Case& c, const Tensors& inputs, Tensors& outputs) {
  const auto tensor = [](Tensors& all, const char* name) -> std::vector<double>& {
    return std::ranges::find(all, name, &NamedTensor::name)->values.data;
  };
  Tensors wide = EvaluateByRecipe({c, inputs, ParseRecipe("native keep=f32 store=f32", c.dtype())});
  for (size_t i = 0; i < tensor(wide, "middle").size(); ++i) {
    const double projected = tensor(wide, "attention_out")[i];
    tensor(outputs, "attention_out")[i] = RoundTo(c.dtype(), projected);
    tensor(outputs, "middle")[i] = RoundTo(c.dtype(), inputs[0].values.data[i] + projected);
  }
  const Tensors given = {*std::ranges::find(outputs, "middle", &NamedTensor::name)};
  const ScopedTrace trace(given);
  const Tensors rest = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())});
  for (const char* const name : {"hidden", "y"})
    tensor(outputs, name) = std::ranges::find(rest, name, &NamedTensor::name)->values.data;
}

bool OnlyTheTraceFailsAt(const std::string& output, const Answers& answers) {
  const std::vector<JudgedAnswer> judged = answers.Judged();
  const Verdict& verdict = judged[0].verdict;
  return verdict.message == "first wrong at " + output + "; everything before conforms" &&
         std::ranges::none_of(verdict.tensors, &TensorVerdict::failed);
}

// End to end all errors are permitted: only the trace fails, and there the exact sum of two bf16
// numbers may be one.
TEST(RecipeSearch, FindsAResidualThatIsAddedBeforeTheRounding) {
  for (const char* const dtype : {"bf16", "f16"}) {
    Answers answers("native", "native");
    answers.Add("decoder_block pairing=half S=4 M=6 H=4 K=2 D=6 F=5 dtype=" + std::string(dtype));
    answers.Edit(AddResidualBeforeRounding);
    EXPECT_TRUE(OnlyTheTraceFailsAt("middle", answers));
    const auto found = answers.Search();
    ASSERT_TRUE(found) << dtype;
    EXPECT_EQ(found->recipe, "native keep=f32");
    EXPECT_TRUE(found->failing.empty());
    EXPECT_GT(found->Width(), 1);
  }
}

// In 16 bits keep=f64 permits a little less, but nobody computes so.
TEST(RecipeSearch, FindsANormThatReadsTheUnroundedSum) {
  Answers answers("native keep=f32", "native");
  answers.Add("add_rms_norm N=3 M=64 dtype=bf16");
  const auto found = answers.Search();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "native keep=f32");
}

// Other recipes are not tried there: each takes as long as a judgement.
TEST(SlowRecipeSearch, FindsAResidualThatIsAddedBeforeTheRoundingOfALargeBlock) {
  Answers answers("native", "native");
  answers.Add("decoder_block pairing=half S=4 M=64 H=2 K=1 D=8 F=4000 dtype=bf16");
  answers.Edit(AddResidualBeforeRounding);
  const auto found = answers.Search(1, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->recipe, "native keep=f32");
  EXPECT_EQ(found->Width(), 0);
}

// Dot products in bf16 would permit it.
TEST(RecipeSearch, ASmallBugThatOnlyTheTraceShowsHasNoRecipe) {
  const std::string line = "decoder_block pairing=half S=4 M=6 H=4 K=2 D=6 R=4 F=5 dtype=bf16";
  Answers answers("native", "native");
  answers.AddAnswered(line, line + " scale=0.5");
  EXPECT_TRUE(OnlyTheTraceFailsAt("attention_out", answers));
  EXPECT_FALSE(answers.Search(1));
}

TEST(RecipeSearch, AResidualThatIsMissingOrAddedTwiceHasNoRecipe) {
  for (const double times : {0, 2}) {
    Answers answers("native", "native");
    answers.Add("decoder_block pairing=half S=4 M=6 H=4 K=2 D=6 F=5 dtype=bf16");
    answers.Edit([&](const Case& c, const Tensors& inputs, Tensors& outputs) {
      AddResidualBeforeRounding(c, inputs, outputs);
      std::vector<double>& middle =
          std::ranges::find(outputs, "middle", &NamedTensor::name)->values.data;
      for (size_t i = 0; i < middle.size(); ++i)
        middle[i] = RoundTo(c.dtype(), middle[i] + (times - 1) * inputs[0].values.data[i]);
    });
    EXPECT_FALSE(answers.Search());
  }
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
