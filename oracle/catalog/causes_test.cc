#include "oracle/catalog/causes_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/case/operations.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

TEST(CausesOf, ReturnsTheDefectAndItsDescription) {
  const AskedCase question("rope pairing=half H=2 D=8 dtype=f32 @position=1,2,3");
  const Defect& defect = DefectNamed("rope", "mixed_rotate_half");
  const Tensors wrong = question.Predicted(defect);
  EXPECT_THAT(
      question.Causes(wrong),
      ElementsAre(StartsWith("mixed_rotate_half (rotate_half pairs neighbouring channels but")));
}

// The case has more slices than CausesOf samples; elements of this defect depend on other slices.
TEST(CausesOf, FindsADefectAcrossSlices) {
  const AskedCase question("attention_scores H=4 S=96 T=96 D=2 dtype=f32");
  const Tensors wrong = question.Predicted(DefectNamed("attention_scores", "last_channel_lost"));
  EXPECT_THAT(question.Causes(wrong), Contains(StartsWith("last_channel_lost")));
}

// Both the prediction and the answer may have the permitted error.
TEST(Explains, PermitsTwiceThePermittedError) {
  const AskedCase question("rope pairing=half H=2 D=8 dtype=f32 @position=1,2,3");
  const Defect& defect = DefectNamed("rope", "mixed_rotate_half");
  const Hypothesis hypothesis = *question.Of(defect);
  const Tensors wrong = Predict(hypothesis, question.c);
  const auto permitted =
      PermittedErrors({question.c, hypothesis.inputs, question.recipe, *hypothesis.operation})[0]
          .error.data;
  const auto explains_error = [&](double relative) {
    Tensors answer = wrong;
    for (size_t i = 0; i < permitted.size(); ++i)
      answer[0].values.data[i] += relative * permitted[i];
    return Explains(hypothesis, question.c, question.recipe, answer);
  };
  EXPECT_TRUE(explains_error(1.5));
  EXPECT_FALSE(explains_error(2.5));
}

// e^200 overflows in f32, so the answer is infinity / infinity.
TEST(CausesOf, ExplainsNaN) {
  const AskedCase question("softmax N=1 M=3 dtype=f32 @x=200,1,2");
  const Defect& defect = DefectNamed("softmax", "largest_not_subtracted");
  const Tensors wrong = question.Predicted(defect);
  ASSERT_TRUE(std::isnan(wrong[0].values.data[0]));
  EXPECT_THAT(question.Causes(wrong), Contains(StartsWith("largest_not_subtracted ")));
}

// An explicit `store` in the recipe does not change the format to which the defect rounds.
TEST(CausesOf, FindsRoundedProductsWithAnExplicitStore) {
  const AskedCase question("linear N=4 F=4 M=16 dtype=f32", "native store=f32");
  const Defect& defect = DefectNamed("linear", "products_in_bf16");
  const Recipe native = ParseRecipe("native", question.c.dtype());
  const Tensors wrong =
      Predict(*defect.hypothesis(question.c, question.inputs, native), question.c);
  EXPECT_THAT(question.Causes(wrong), Contains(StartsWith("products_in_bf16")));
  EXPECT_EQ(question.Predicted(defect)[0].values.data, wrong[0].values.data);
}

// Defects that change a format have almost no effect in bf16, so they would explain any correct
// answer.
TEST(CausesOf, IsEmptyForACorrectAnswer) {
  const AskedCase question("rope pairing=half H=2 D=8 dtype=bf16 @position=1,2,3");
  const Tensors correct = question.CorrectAnswer();
  EXPECT_THAT(question.Causes(correct), IsEmpty());
}

// The causes of the answer to the case with other words, judged as an answer to the case itself.
std::vector<std::string> CausesIf(const std::string& line, const std::string& words) {
  const AskedCase question(line);
  return question.Causes(
      EvaluateByRecipe({question.c.With(words), question.inputs, question.recipe}));
}

// The case has truncate=false, the answer has truncated limits. The upper limit is below R/2 - 1,
// so a defect in its clamp does not show.
TEST(CausesOf, FindsTruncatedLimits) {
  EXPECT_THAT(
      CausesIf("rope pairing=half H=1 D=64 base=150000 dtype=bf16 @position=1,300,8191 "
               "scaling=yarn(factor=32,original_max_position_embeddings=4096,"
               "truncate=false)",
               "scaling=yarn(factor=32,original_max_position_embeddings=4096)"),
      ElementsAre(StartsWith("yarn_truncate_flipped "), StartsWith("scaling.yarn.truncate=true ")));
}

// If an answer has the long factors instead of the short ones, the cause may be a wrong comparison
// or that the short factors are never used. The defect that shows only at this length comes first.
TEST(CausesOf, ListsTheMoreSpecificDefectFirst) {
  const std::string line =
      "rope_frequencies R=4 scaling=longrope(short_factor=[1,1.5],long_factor=[2,40.5],"
      "original_max_position_embeddings=4096,factor=32) dtype=f64 seq_len=";
  EXPECT_THAT(CausesIf(line + "4096", "seq_len=4097").front(),
              StartsWith("longrope_switches_early "));
  EXPECT_THAT(CausesIf(line + "4097", "seq_len=4096").front(),
              StartsWith("longrope_switches_late "));
  EXPECT_THAT(CausesIf(line + "4000", "seq_len=4097").front(), StartsWith("longrope_always_long "));
}

// 2 (3000 / 4096) - 1 = 119 / 256.
TEST(CausesOf, FindsADynamicBaseThatShrinks) {
  EXPECT_THAT(
      CausesIf("rope_frequencies R=16 scaling=dynamic(factor=2,max_position_embeddings=4096) "
               "seq_len=3000 dtype=f64",
               "scaling=ntk(factor=0.46484375)"),
      ElementsAre(StartsWith("dynamic_shrinks ")));
}

// The drawn sink is nearly -ln 2, so 2 e^sink is 1.00004. A defect that predicts 1 is within the
// permitted error of f32, but farther from the answer.
TEST(CausesOf, KeepsTheNearerOfTwoDefects) {
  const AskedCase question(
      "attention with=sink scale=0.5 soft_cap=2 window=[1,0] H=1 S=1 T=3 D=72 dtype=f32");
  Tensors doubled = question.inputs;
  for (double& sink : doubled[3].values.data) sink += std::log(2.0);
  EXPECT_THAT(question.Causes(EvaluateByRecipe({question.c, doubled, question.recipe})),
              ElementsAre(StartsWith("sink_doubled ")));
}

// eps has almost no effect beside a mean square of 1. Three defects make it nearly 0 and predict
// the same answer up to rounding.
TEST(CausesOf, ListsAllDefectsThatDifferByRoundingOnly) {
  const AskedCase question("rms_norm N=2 M=7 dtype=f32");
  for (const char* recipe : {"native", "exact", "f32_compute"}) {
    const Tensors answer = EvaluateByRecipe(
        {question.c.With("eps=1e-08"), question.inputs, ParseRecipe(recipe, question.c.dtype())});
    EXPECT_THAT(question.Causes(answer),
                UnorderedElementsAre(StartsWith("eps_as_floor "), StartsWith("eps_missing "),
                                     StartsWith("eps=1e-08 ")))
        << recipe;
  }
}

// All mean squares are above eps, so a missing eps and an eps that is a lower bound give the same.
TEST(CausesOf, ListsTheUsualBugFirstIfAnotherPredictsTheSame) {
  for (const char* line : {"rms_norm N=2 M=7 dtype=f32", "layer_norm N=2 M=7 dtype=f32",
                           "add_rms_norm N=2 M=7 dtype=f32"}) {
    const std::vector<std::string> causes = CausesIf(line, "eps=0");
    EXPECT_THAT(causes, Contains(StartsWith("eps_as_floor "))) << line;
    EXPECT_THAT(causes.front(), StartsWith("eps_missing ")) << line;
  }
}

// A root mean square of 0.01 plus an eps of 1e-6 is nearly 0.01, so eps_missing nearly predicts the
// answer of eps_outside_the_root, and comes before it in the catalog.
TEST(CausesOf, ListsTheNearestDefectFirst) {
  const AskedCase question("rms_norm eps=1e-06 N=16 M=64 dtype=bf16 @x=normal(0.01)");
  const std::vector<std::string> causes =
      question.Causes(question.Predicted(DefectNamed("rms_norm", "eps_outside_the_root")));
  EXPECT_THAT(causes, Contains(StartsWith("eps_missing ")));
  EXPECT_THAT(causes.front(), StartsWith("eps_outside_the_root "));
}

// In 16 bits the worst-case bound of a block is so large that it permits other defects too; the
// likely error does not. The second answer has half of the first branch, which is no known defect.
TEST(CausesOf, UsesLikelyErrorsToSeparateDefects) {
  const AskedCase question(
      "decoder_block pairing=half S=6 M=8 H=4 K=2 D=4 F=12 key_length=[4] dtype=bf16");
  const Defect& defect = DefectNamed("decoder_block", "gate_exchanged_with_up");
  Tensors wrong = question.Predicted(defect);
  wrong.resize(1);
  EXPECT_THAT(question.Causes(wrong), ElementsAre(StartsWith("gate_exchanged_with_up ")));
  Tensors halved = question.inputs;
  const auto wo = std::ranges::find(halved, "wo", &NamedTensor::name);
  for (double& weight : wo->values.data) weight /= 2;
  Tensors other = EvaluateByRecipe({question.c, halved, question.recipe});
  other.resize(1);
  EXPECT_THAT(question.Causes(other), IsEmpty());
}

// Defects with little effect in this case do not explain an answer that no defect predicts.
TEST(CausesOf, IsEmptyIfNoDefectPredictsTheAnswer) {
  const AskedCase question("rope pairing=half H=4 S=16 D=64 dtype=bf16");
  Tensors answer = question.CorrectAnswer();
  const auto permitted = PermittedErrors(question);
  for (const size_t i : {size_t{5}, size_t{1000}}) {
    answer[0].values.data[i] += 2 * permitted[0].error.data[i];
  }
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

// Honest implementations that round steps to another format: only defects that say so.
TEST(CausesOf, NamesNothingButAPrecision) {
  for (const char* line : {"rope pairing=half H=2 S=16 D=32 dtype=f32",
                           "softmax N=8 M=64 dtype=f32", "rms_norm N=8 M=64 dtype=f32",
                           "linear N=8 F=8 M=64 dtype=f32", "layer_norm N=8 M=64 dtype=f32"}) {
    for (const char* recipe : {"*=bf16", "*=f16 store=T"}) {
      const AskedCase question(line);
      const Recipe odd = ParseRecipe(recipe, question.c.dtype());
      const Tensors answer = EvaluateByRecipe({question.c, question.inputs, odd});
      const Judge judge(question.c, question.inputs, question.recipe);
      for (const Cause& cause : CausesOf({question.c, question.inputs, question.recipe,
                                          judge.golden(), judge.permitted(), answer}))
        EXPECT_THAT(cause.name, HasSubstr("_in_")) << line << " " << recipe;
    }
  }
}

// CausesOf rules defects out by a few slices of the case, except those across slices.
class SlowDefectsOnSlices : public testing::TestWithParam<std::string> {};

TEST_P(SlowDefectsOnSlices, AnswerAsOnTheWholeCase) {
  for (const CaseLine& line : SmallCasesOf(GetParam())) {
    const AskedCase question(line.text);
    const std::vector<Slice> slices = CutCase(question.c, 1);
    for (const Defect& defect : CatalogEntryOf(GetParam()).defects) {
      const auto hypothesis = question.Of(defect);
      if (!hypothesis || defect.is_across_slices || slices.size() == 1) continue;
      const Tensors whole = Predict(*hypothesis, question.c);
      for (const size_t i : {size_t{0}, slices.size() / 2, slices.size() - 1}) {
        const Tensors part = EvaluateByRecipe(
            {question.c, hypothesis->inputs, hypothesis->recipe, *hypothesis->operation},
            slices[i]);
        for (size_t o = 0; o < whole.size(); ++o) {
          const TensorSpec& spec = question.c.info().signature.outputs[o];
          const Tensor<double> expected = ExtractSlice(whole[o].values, spec, slices[i]);
          EXPECT_TRUE(std::ranges::equal(part[o].values.data, expected.data, SameNumber))
              << line.text << " " << defect.name << ", slice " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, SlowDefectsOnSlices, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });

// The columns after the last whole vector have the product with another weight.
TEST(CausesOf, ReturnsTheCauseInAPartOfTheAnswer) {
  const AskedCase question("linear N=8 F=19 M=19 dtype=bf16");
  Tensors answer = question.CorrectAnswer();
  const Tensors wrong = question.Predicted(DefectNamed("linear", "weight_transposed"));
  for (size_t i = 0; i < answer[0].values.data.size(); ++i)
    if (i % 19 >= 16) answer[0].values.data[i] = wrong[0].values.data[i];
  EXPECT_THAT(question.Causes(answer), ElementsAre(AllOf(StartsWith("weight_transposed ("),
                                                         HasSubstr("; only at F 16 to 18"))));
}

// One row of a step in bf16 is no part that is computed in another way.
TEST(CausesOf, ReturnsNothingForOneRowOfAnotherPrecision) {
  const AskedCase question("rms_norm N=8 M=24 dtype=f32");
  Tensors answer = question.CorrectAnswer();
  const Tensors other = EvaluateByRecipe(
      {question.c, question.inputs, ParseRecipe("native rsqrt=bf16", DType::kF32)});
  for (size_t i = 3 * 24; i < 4 * 24; ++i) answer[0].values.data[i] = other[0].values.data[i];
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
