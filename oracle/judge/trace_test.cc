// Each intermediate is judged on the basis of the subject's own earlier tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/case/intermediate.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

// In relative attention, the intermediate `scores` is the input of the softmax.
struct Attention : DrawnCase {
  explicit Attention(const std::string& words = "dtype=f32", const std::string& by = "native")
      : DrawnCase("relative_attention clip=1 H=2 S=3 T=5 D=4 " + words, by) {}
  Verdict Judged() const { return Judge(c, inputs, recipe).Evaluate(answer); }
  Tensor<double>& y() { return answer[0].values; }
  Tensor<double>& scores() { return answer[1].values; }

  Tensors answer = CorrectAnswer();
};

TEST(Trace, StepsComeInTheOrderInWhichTheyAreComputed) {
  const Verdict verdict = Attention().Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  ASSERT_EQ(verdict.trace.size(), 2u);
  EXPECT_EQ(verdict.trace[0].name, "scores");
  EXPECT_EQ(verdict.trace[1].name, "y");
}

TEST(Trace, IsEmptyWithoutIntermediates) {
  Attention attention;
  attention.answer.pop_back();
  EXPECT_TRUE(attention.Judged().trace.empty());
}

// A score is wrong by 1/2; y is the correct attention for these scores, so it conforms.
TEST(Trace, NamesTheFirstWrongStep) {
  Attention wrong;
  wrong.scores().data[0] += 0.5;
  const ScopedTrace trace(wrong.answer);
  wrong.y() = EvaluateByRecipe(wrong)[0].values;
  const Verdict verdict = wrong.Judged();
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_THAT(verdict.message, HasSubstr("first wrong at scores"));
  EXPECT_EQ(verdict.trace[0].failed, 1u);
  EXPECT_EQ(verdict.trace[1].failed, 0u);
  EXPECT_GT(verdict.tensors[0].failed, 0u);  // end to end y is wrong
}

TEST(Trace, ReportsThatEarlierTensorsConform) {
  Attention wrong;
  wrong.y().data[0] += 0.5;
  const Verdict verdict = wrong.Judged();
  EXPECT_THAT(verdict.message, HasSubstr("first wrong at y; everything before conforms"));
  EXPECT_EQ(verdict.trace[0].failed, 0u);
}

// The trace finds an error that is smaller than the permitted error of all steps together.
TEST(Trace, FindsErrorsThatConformEndToEnd) {
  Attention wrong("dtype=bf16", "*=f32 score=bf16 store=f32");
  const Attention right = wrong;
  bool sharper = false;
  for (const double off : {0x1p-12, 0x1p-11, 0x1p-10}) {
    wrong.y().data[0] = right.answer[0].values.data[0] + off;
    const Verdict verdict = wrong.Judged();
    sharper = sharper || (verdict.tensors[0].failed == 0 && verdict.trace[1].failed == 1);
  }
  EXPECT_TRUE(sharper);
}

// Scores are answered in bf16 but used in f32: y is computed from scores before their rounding.
TEST(Trace, IntermediatesMayBeRoundedInTheAnswerOnly) {
  for (const auto* seed : {"seed=1", "seed=2", "seed=3", "seed=4", "seed=5"}) {
    const Verdict verdict =
        Attention(std::string("dtype=bf16 @q=normal(4) ") + seed, "f32_compute").Judged();
    EXPECT_EQ(verdict.status, Status::kConforms) << verdict.message;
    EXPECT_EQ(verdict.trace.size(), 2u);
  }
}

// The answered scores are right and overflow in f16, but y is not their attention.
TEST(Trace, InfinitiesOfTheSubjectLeaveYUnverified) {
  const Case c = Case::Parse(
      "relative_attention clip=1 H=1 S=2 T=5 D=4 dtype=f16 seed=1 @q=normal(300) @k=normal(700)");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors answer = EvaluateByRecipe({c, inputs, recipe});
  ASSERT_TRUE(std::ranges::any_of(answer[1].values.data, [](double x) { return std::isinf(x); }));
  std::ranges::fill(answer[0].values.data, 12345);
  const Verdict verdict = Judge(c, inputs, recipe).Evaluate(answer);
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_EQ(verdict.message, "no element of y could have failed");
  EXPECT_EQ(verdict.trace[1].unspecified, 0u);
  EXPECT_EQ(verdict.trace[1].judged, 0u);
}

// A correct answer, but no element of y could have failed, neither end to end nor in the trace.
TEST(Trace, AnswerThatCouldNotFailEitherWayIsUnverified) {
  const Verdict verdict = Attention("dtype=bf16 @q=normal(1e19) @k=normal(1e19)").Judged();
  EXPECT_EQ(verdict.trace.size(), 2u);
  EXPECT_EQ(verdict.status, Status::kUnverified);
}

// Scores without a finite bound are answered as 1, and y is the attention for these scores.
TEST(Trace, ResultOfOpenIntermediatesIsUnverified) {
  const Case c = Case::Parse(
      "relative_attention clip=1 H=1 S=2 T=5 D=4 dtype=f16 seed=1 @q=normal(300) @k=normal(700)");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors answer = EvaluateByRecipe({c, inputs, recipe});
  const Judge judge(c, inputs, recipe);
  for (size_t i = 0; i < answer[1].values.data.size(); ++i) {
    if (std::isinf(judge.permitted()[1].error.data[i])) answer[1].values.data[i] = 1;
  }
  const Tensors given = {answer[1]};
  const ScopedTrace trace(given);
  answer[0] = EvaluateByRecipe({c, inputs, recipe})[0];
  const Verdict verdict = judge.Evaluate(answer);
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_GT(verdict.trace[1].judged, 0u);
}

}  // namespace
}  // namespace sextant::oracle
