// The trace of a feed-forward layer: y is judged by the hidden tensor of the answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/case/intermediate.h"

namespace sextant::oracle {
namespace {

struct Answered : DrawnCase {
  explicit Answered(const std::string& words)
      : DrawnCase("feed_forward kind=swiglu N=2 M=3 F=5 " + words) {}
  Verdict Judged() const { return Judge(c, inputs, recipe).Evaluate(answer); }

  Tensors answer = CorrectAnswer();  // y, hidden
};

TEST(FeedForward, BothStepsOfAnHonestAnswerConform) {
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    const Verdict verdict = Answered(dtype).Judged();
    EXPECT_EQ(verdict.status, Verdict::Status::kConforms);
    ASSERT_EQ(verdict.trace.size(), 2u);
    EXPECT_EQ(verdict.trace[0].name, "hidden");
    EXPECT_EQ(verdict.trace[1].name, "y");
  }
}

// A wrong hidden tensor, and the last layer computed correctly from it.
TEST(FeedForward, TraceNamesOnlyTheHiddenTensor) {
  Answered wrong("dtype=bf16");
  wrong.answer[1].values.data[0] += 1;
  const ScopedTrace trace(wrong.answer);
  wrong.answer[0].values = EvaluateByRecipe(wrong)[0].values;
  const Verdict verdict = wrong.Judged();
  EXPECT_THAT(verdict.message, HasSubstr("first wrong at hidden"));
  EXPECT_EQ(verdict.trace[1].failed, 0u);
}

TEST(FeedForward, TraceNamesOnlyTheLastLayer) {
  Answered wrong("dtype=f32");
  wrong.answer[0].values.data[0] += 0.25;
  EXPECT_THAT(wrong.Judged().message, HasSubstr("first wrong at y; everything before conforms"));
}

}  // namespace
}  // namespace sextant::oracle
