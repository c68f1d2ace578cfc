// Intermediate tensors: each is judged from the subject's own tensors before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/judge/judge.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;
using testing::HasSubstr;

// Relative attention hands its scores on to the softmax.
struct Attention {
  explicit Attention(const std::string& words = "dtype=f32", const std::string& by = "native")
      : c(Case::Parse("relative_attention clip=1 H=2 S=3 T=5 D=4 " + words)),
        inputs(DrawInputs(c)),
        recipe(ParseRecipe(by, c.dtype())),
        answer(AnswerBy(c, inputs, recipe)) {}
  Verdict Judged() const { return Judge(c, inputs, recipe).Evaluate(answer); }
  Tensor<double>& y() { return answer[0].values; }
  Tensor<double>& scores() { return answer[1].values; }

  Case c;
  Tensors inputs;
  Recipe recipe;
  Tensors answer;
};

TEST(Trace, StepsComeInTheOrderInWhichTheyAreComputed) {
  const Verdict verdict = Attention().Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  ASSERT_EQ(verdict.trace.size(), 2u);
  EXPECT_EQ(verdict.trace[0].name, "scores");
  EXPECT_EQ(verdict.trace[1].name, "y");
}

TEST(Trace, WithoutIntermediateTensorsThereIsNone) {
  Attention at;
  at.answer.pop_back();
  EXPECT_TRUE(at.Judged().trace.empty());
}

// Scores that are off by 1/2, and the right softmax of them: the second step is not to blame.
TEST(Trace, NamesTheFirstWrongStep) {
  Attention wrong;
  wrong.scores().data[0] += 0.5;
  const ScopedTrace tracing(wrong.answer);
  wrong.y() = AnswerBy(wrong.c, wrong.inputs, wrong.recipe)[0].values;
  const Verdict verdict = wrong.Judged();
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_THAT(verdict.message, HasSubstr("first wrong at scores"));
  EXPECT_EQ(verdict.trace[0].failed, 1u);
  EXPECT_EQ(verdict.trace[1].failed, 0u);
  EXPECT_GT(verdict.tensors[0].failed, 0u);  // end to end y is wrong
}

TEST(Trace, SaysThatEverythingBeforeConforms) {
  Attention wrong;
  wrong.y().data[0] += 0.5;
  const Verdict verdict = wrong.Judged();
  EXPECT_THAT(verdict.message, HasSubstr("first wrong at y; everything before conforms"));
  EXPECT_EQ(verdict.trace[0].failed, 0u);
}

// A step may be wrong by less than all that went before permits: the trace sees it.
TEST(Trace, IsSharperThanEndToEnd) {
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

// Scores are answered in bf16, and go on in f32: y follows from numbers that the answer rounds.
TEST(Trace, AnAnswerMayBeTheRoundingOfWhatWentOn) {
  for (const auto* seed : {"seed=1", "seed=2", "seed=3", "seed=4", "seed=5"}) {
    const Verdict verdict =
        Attention(std::string("dtype=bf16 @q=normal(4) ") + seed, "f32_compute").Judged();
    EXPECT_EQ(verdict.status, Status::kConforms) << verdict.message;
    EXPECT_EQ(verdict.trace.size(), 2u);
  }
}

// Scores that overflow in f16, answered honestly, and no attention of them.
TEST(Trace, ASubjectsOwnInfinitiesExcuseNothing) {
  const Case c = Case::Parse(
      "relative_attention clip=1 H=1 S=2 T=5 D=4 dtype=f16 seed=1 @q=normal(300) @k=normal(700)");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors answer = AnswerBy(c, inputs, recipe);
  ASSERT_TRUE(std::ranges::any_of(answer[1].values.data, [](double x) { return std::isinf(x); }));
  std::ranges::fill(answer[0].values.data, 12345);
  const Verdict verdict = Judge(c, inputs, recipe).Evaluate(answer);
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_EQ(verdict.message, "no element of y could have failed");
  EXPECT_EQ(verdict.trace[1].unspecified, 0u);
  EXPECT_EQ(verdict.trace[1].judged, 0u);
}

// Honest, but neither end to end nor in the trace could anything of y have failed.
TEST(Trace, WhatIsInDoubtBothWaysIsUnverified) {
  const Verdict verdict = Attention("dtype=bf16 @q=normal(1e19) @k=normal(1e19)").Judged();
  EXPECT_EQ(verdict.trace.size(), 2u);
  EXPECT_EQ(verdict.status, Status::kUnverified);
}

// Scores that may be anything are 1, and the attention of them is right: nothing is verified.
TEST(Trace, WhatFollowsFromNumbersThatMayBeAnythingIsUnverified) {
  const Case c = Case::Parse(
      "relative_attention clip=1 H=1 S=2 T=5 D=4 dtype=f16 seed=1 @q=normal(300) @k=normal(700)");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors answer = AnswerBy(c, inputs, recipe);
  const Judge judge(c, inputs, recipe);
  for (size_t i = 0; i < answer[1].values.data.size(); ++i) {
    if (std::isinf(judge.permitted()[1].error.data[i])) answer[1].values.data[i] = 1;
  }
  const Tensors given = {answer[1]};
  const ScopedTrace tracing(given);
  answer[0] = AnswerBy(c, inputs, recipe)[0];
  const Verdict verdict = judge.Evaluate(answer);
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_GT(verdict.trace[1].judged, 0u);
}

}  // namespace
}  // namespace sextant::oracle
