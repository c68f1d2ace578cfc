#include "oracle/diagnosis/recipe/own_errors.h"

#include <gtest/gtest.h>

#include "oracle/diagnosis/recipe/judged_answers_test.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant::oracle {
namespace {

constexpr const char* kRope = "rope pairing=half H=2 S=16 D=32";

TEST(OwnErrors, AreThoseOfAnAnswerByTheRecipe) {
  for (const std::string recipe : {"native angle=f16", "native trig=bf16", "native rotate=f16"}) {
    Answers answers(recipe, "native");
    answers.Add(kRope);
    EXPECT_FALSE(HasOtherErrors(recipe, answers.Judged())) << recipe;
  }
}

// Elements without a specified value say nothing, though they are many.
TEST(OwnErrors, LeaveOutWhatIsUnspecified) {
  Answers answers("native angle=f16", "native");
  answers.AddAnswered(kRope, kRope, [](Tensors& inputs) {
    std::vector<double>& x = inputs[0].values.data;
    for (size_t i = 0; i < x.size() * 7 / 8; ++i) x[i] = NAN;
  });
  EXPECT_FALSE(HasOtherErrors("native angle=f16", answers.Judged()));
}

// Of another base, and of angles of another format.
TEST(OwnErrors, AreNotThoseOfABugThatTheRecipePermits) {
  Answers answers("native", "native");
  answers.AddAnswered(kRope, std::string(kRope) + " base=9990");
  EXPECT_TRUE(HasOtherErrors("native angle=f16", answers.Judged()));
  Answers in_bf16("native angle=bf16", "native");
  in_bf16.Add(kRope);
  EXPECT_TRUE(HasOtherErrors("native angle=f16", in_bf16.Judged()));
}

// A wider recipe, by which too few elements could fail, may be the one.
TEST(OwnErrors, AreNotOthersIfTheyAreThoseOfAStandardRecipe) {
  Answers answers("*=f16 store=T", "native");
  answers.Add(kRope);
  EXPECT_FALSE(HasOtherErrors("native trig=f16", answers.Judged()));
}

// Formats with as many digits as the dtype are common.
TEST(OwnErrors, AreOfStepsWithFewerDigitsThanTheDtype) {
  Answers answers("native", "native");
  const std::string line = "rope pairing=half H=2 S=16 D=32 dtype=bf16";
  answers.AddAnswered(line, line + " base=9000");
  EXPECT_FALSE(HasOtherErrors("native angle=bf16", answers.Judged()));
}

TEST(OwnErrors, DoNotTellWhereTheOrderOfSumsMatters) {
  Answers answers("native dot=bf16", "native");
  {
    const ScopedSumOrder in_order({SumOrder::Kind::kLanes, 8});
    answers.Add("linear N=8 M=256 F=16");
  }
  EXPECT_FALSE(HasOtherErrors("native dot=bf16", answers.Judged()));
}

TEST(OwnErrors, DoNotTellOfLessAccurateFunctions) {
  Answers answers("native", "native");
  answers.AddAnswered(kRope, std::string(kRope) + " base=9990");
  EXPECT_TRUE(HasOtherErrors("native trig=f16", answers.Judged()));
  EXPECT_FALSE(HasOtherErrors("native trig=f16/2", answers.Judged()));
}

// The error of a sum of 1024 numbers in bf16 may be as large as the sum; that of 8 numbers not.
TEST(PermitsZeros, OfSumsThatAreTooLongForTheFormat) {
  Answers answers("native", "native");
  answers.Add("linear N=8 M=1024 F=16");
  answers.Add("linear N=8 M=8 F=16");
  const auto judged = answers.Judged();
  EXPECT_TRUE(PermitsZeros("native dot=bf16", judged[0]));
  EXPECT_FALSE(PermitsZeros("native dot=bf16", judged[1]));
  EXPECT_FALSE(PermitsZeros("native", judged[0]));
}

}  // namespace
}  // namespace sextant::oracle
