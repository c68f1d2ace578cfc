#include "reference/number/recipe/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reference/base/error.h"
#include "reference/base/error_test.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const StepRule& Rule(const Recipe& recipe, Step step) {
  return recipe.steps[static_cast<size_t>(step)];
}

std::string ErrorOf(const std::string& line) {
  return MessageOf([&] { ParseRecipe(line, DType::kF32); });
}

TEST(Recipe, ALineSetsNamedStepsAndAllOthers) {
  const Recipe r = ParseRecipe("*=f32 frequency=f64:exp_log/2 table=T sum=bf16:pairwise trig=exact",
                               DType::kF16);
  EXPECT_EQ(Rule(r, Step::kAngle).format, DType::kF32);
  EXPECT_EQ(Rule(r, Step::kFrequency).format, DType::kF64);
  EXPECT_EQ(Rule(r, Step::kFrequency).form, Form::kExpLog);
  EXPECT_EQ(Rule(r, Step::kFrequency).ulps, 2);
  EXPECT_EQ(Rule(r, Step::kAngle).ulps, 1);
  EXPECT_TRUE(Rule(r, Step::kTable).of_tensor);
  EXPECT_EQ(Rule(r, Step::kSum).form, Form::kPairwise);
  EXPECT_TRUE(Rule(r, Step::kTrig).exact);
}

TEST(Recipe, StoreRoundsToTheDTypeOfTheOutputByDefault) {
  EXPECT_TRUE(Rule(ParseRecipe("*=f32", DType::kBF16), Step::kStore).of_tensor);
  EXPECT_FALSE(Rule(ParseRecipe("*=f32 store=f16", DType::kBF16), Step::kStore).of_tensor);
}

TEST(Recipe, NativeComputesAnglesOf16BitTypesInF32) {
  for (const DType wide : {DType::kF32, DType::kF64}) {
    for (const StepRule& rule : ParseRecipe("native", wide).steps) EXPECT_TRUE(rule.of_tensor);
  }
  for (const DType narrow : {DType::kF16, DType::kBF16}) {
    const Recipe r = ParseRecipe("native", narrow);
    for (const Step step : {Step::kExponent, Step::kFrequency, Step::kAngle, Step::kTrig,
                            Step::kSum, Step::kDot, Step::kSoftmax}) {
      EXPECT_FALSE(Rule(r, step).of_tensor);
      EXPECT_EQ(Rule(r, step).format, DType::kF32);
    }
    for (const Step step :
         {Step::kTable, Step::kRotate, Step::kWeigh, Step::kScore, Step::kStore}) {
      EXPECT_TRUE(Rule(r, step).of_tensor);
    }
  }
}

TEST(Recipe, EveryStandardRecipeParsesUnderItsName) {
  for (const StandardRecipe& standard : StandardRecipes()) {
    for (const DType dtype : kFloatTypes) {
      EXPECT_EQ(ParseRecipe(standard.name, dtype).name, standard.name);
    }
    EXPECT_FALSE(standard.meaning.empty());
  }
}

TEST(Recipe, LinesMayDifferFromAStandardRecipe) {
  const Recipe native = ParseRecipe("native", DType::kF16);
  const Recipe other = ParseRecipe("native store=bf16 dot=f64", DType::kF16);
  EXPECT_EQ(other.name, "native store=bf16 dot=f64");
  EXPECT_TRUE(Rule(native, Step::kStore).of_tensor);
  EXPECT_FALSE(Rule(other, Step::kStore).of_tensor);
  EXPECT_EQ(Rule(other, Step::kStore).format, DType::kBF16);
  EXPECT_EQ(Rule(other, Step::kDot).format, DType::kF64);
  EXPECT_TRUE(Rule(other, Step::kKeep).of_tensor);
  EXPECT_EQ(Rule(other, Step::kSum).format, DType::kF32);
  EXPECT_TRUE(Rule(ParseRecipe("native flush", DType::kF32), Step::kDot).flushes);
  EXPECT_EQ(ErrorOf("naive store=T"),
            "recipe: 'naive' is neither step=format nor flush nor a standard recipe (did you mean "
            "'native'?)");
  EXPECT_EQ(ErrorOf("store=bf16 native"),
            "recipe: 'native' is the name of a standard recipe, expected as the first word");
}

TEST(Recipe, OnlyWeightsHave8Bits) {
  const Recipe r = ParseRecipe("native weigh=f8_e4m3fn", DType::kBF16);
  EXPECT_EQ(Rule(r, Step::kWeigh).format, DType::kF8E4M3FN);
  EXPECT_EQ(TextOf(Rule(r, Step::kWeigh)), "f8_e4m3fn");
  for (const std::string word : {"dot=f8_e4m3fn", "*=f8_e4m3fn"})
    EXPECT_EQ(ErrorOf("native " + word),
              "recipe: '" + word +
                  "': f8_e4m3fn is a format of the weights of attention, expected in weigh=");
  EXPECT_THAT(ErrorOf("native weigh=i8"), HasSubstr("'i8' is not one of: f64 f32 f16 bf16"));
}

// A second *= would not change the steps that the standard line names.
TEST(Recipe, RefusesASecondRuleForAllOtherSteps) {
  for (const std::string line : {"native *=f64", "native store=bf16 *=f64", "*=f32 *=f64"})
    EXPECT_EQ(ErrorOf(line),
              "recipe: '*=f64' is a second *=; a standard recipe contains one: name the steps that "
              "differ");
}

TEST(Recipe, ErrorsListTheNamesThatExist) {
  EXPECT_EQ(
      ErrorOf("angel=f32"),
      "'angel' is not one of: exponent frequency angle trig factor table rotate square sum "
      "rsqrt center scale weigh dot score cap softmax slope distance bias activation quantize gate "
      "keep store");
  EXPECT_EQ(ErrorOf("*=fp32"),
            "'fp32' is not one of: f64 f32 f16 bf16 T exact tf32 tf32_truncated");
  EXPECT_EQ(ErrorOf("*=i64"), "'i64' is not one of: f64 f32 f16 bf16 T exact tf32 tf32_truncated");
  EXPECT_THAT(
      ErrorOf("*=f32 frequency=f32:log"),
      HasSubstr(
          "'log' is not one of: default pow exp_log power_chain iterated any sequential pairwise"));
  EXPECT_EQ(ErrorOf("*=f32 frequency=f32:pairwise"),
            "form pairwise belongs to sum=, dot= or softmax=");
  EXPECT_EQ(ErrorOf("*=f32 angle=f32:pow"), "form pow belongs to frequency= or slope=");
  EXPECT_EQ(ErrorOf("*=f32 trig=f32/0.4"), "'f32/0.4': a function is accurate to 0.5 ulp at best");
  EXPECT_EQ(ErrorOf("*=f32 trig=f32/x"), "'x' is not a finite number");
  EXPECT_EQ(ErrorOf("table=f32"), "recipe 'table=f32' has no rule for step exponent and no *=");
  EXPECT_THAT(
      ErrorOf("naive"),
      StartsWith("there is no recipe 'naive' (did you mean 'native'?); there are: native "));
  EXPECT_EQ(ErrorOf("*=f32 table"),
            "recipe: 'table' is neither step=format nor flush nor a standard recipe");
}

TEST(Recipe, FactorsOfProductsMayBeTf32) {
  const Recipe r = ParseRecipe("f32_compute dot=tf32_truncated:tensor_core", DType::kF32);
  EXPECT_EQ(Rule(r, Step::kDot).factors, Factors::kTf32Truncated);
  EXPECT_EQ(Rule(r, Step::kDot).format, DType::kF32);
  EXPECT_EQ(Rule(r, Step::kDot).form, Form::kTensorCore);
  EXPECT_EQ(Rule(ParseRecipe("*=f32 dot=tf32", DType::kF32), Step::kDot).factors, Factors::kTf32);
  EXPECT_EQ(Rule(r, Step::kSum).factors, Factors::kWhole);
  for (const std::string word : {"*=tf32", "sum=tf32"})
    EXPECT_EQ(
        ErrorOf(word),
        "recipe: '" + word + "': tf32 is a format of the factors of products, expected in dot=");
  for (const std::string ulps : {"4", "1"})
    EXPECT_EQ(ErrorOf("*=f32 dot=tf32/" + ulps),
              "'tf32' is a format of factors, expected without ulps");
}

TEST(Recipe, TheIntrinsicsOfCudaBelongToTrig) {
  EXPECT_EQ(Rule(ParseRecipe("native trig=f32:cuda_intrinsic", DType::kF32), Step::kTrig).form,
            Form::kCudaIntrinsic);
  EXPECT_EQ(ErrorOf("*=f32 sum=f32:cuda_intrinsic"), "form cuda_intrinsic belongs to trig=");
  EXPECT_EQ(ErrorOf("*=f32 trig=T:cuda_intrinsic"),
            "form cuda_intrinsic in format 'T', expected f32");
}

TEST(Recipe, UlpsOfASumAreThoseOfTensorCores) {
  for (const char* line : {"*=f32 dot=f32/2", "*=f32 sum=f32:pairwise/2",
                           "*=f32 softmax=f32:tensor_core/2", "*=f32 dot=f32:tensor_core/0.5"})
    EXPECT_THAT(ErrorOf(line), testing::HasSubstr("expected dot=f32:tensor_core/ULPS")) << line;
}

TEST(Recipe, ARuleHasTheTextOfItsRecipe) {
  for (const std::string text : {"f32", "T", "exact", "tf32", "tf32_truncated:tensor_core",
                                 "f32:pairwise", "f32:tensor_core/1024"}) {
    EXPECT_EQ(TextOf(Rule(ParseRecipe("*=f32 dot=" + text, DType::kF16), Step::kDot)), text);
  }
  EXPECT_EQ(TextOf(Rule(ParseRecipe("*=f32 trig=f64/2", DType::kF16), Step::kTrig)), "f64/2");
}

TEST(Recipe, StepsAndRecipesNest) {
  const ScopedRecipe outer(ParseRecipe("*=f32 angle=T trig=f64", DType::kBF16), DType::kBF16);
  const ScopedStep angle(Step::kAngle);
  EXPECT_EQ(CurrentRule().format, DType::kBF16);
  {
    const ScopedStep trig(Step::kTrig);
    EXPECT_EQ(CurrentRule().format, DType::kF64);
    const ScopedRecipe inner(ParseRecipe("*=f16", DType::kBF16), DType::kBF16);
    EXPECT_EQ(CurrentRule().format, DType::kF16);
  }
  EXPECT_EQ(CurrentRule().format, DType::kBF16);
}

TEST(Recipe, StoreUsesTheDTypeOfTheOutput) {
  const ScopedRecipe following(ParseRecipe("native", DType::kBF16), DType::kBF16);
  {
    const ScopedStore store(DType::kF32);  // an f32 output of a bf16 case
    EXPECT_EQ(CurrentRule().format, DType::kF32);
  }
  const ScopedStep table(Step::kTable);
  EXPECT_EQ(CurrentRule().format, DType::kBF16);
}

}  // namespace
}  // namespace sextant
