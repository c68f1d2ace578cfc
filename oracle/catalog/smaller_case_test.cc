#include "oracle/catalog/smaller_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/causes.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

std::vector<std::string> SmallerOf(const std::string& line) {
  std::vector<std::string> lines;
  for (const Case& c : SmallerCasesOf(Case::Parse(line))) lines.push_back(c.ToString());
  return lines;
}

TEST(SmallerCase, HasFewerRowsAndKeysAndTheSameWidths) {
  const auto smaller = SmallerOf("attention mask=causal H=12 K=4 S=256 T=512 D=64 E=64 dtype=bf16");
  ASSERT_EQ(smaller.size(), 2);
  EXPECT_THAT(smaller[0], AllOf(HasSubstr(" D=64 E=64 H=12 K=4 S=4 T=64 "), HasSubstr("causal")));
  EXPECT_THAT(smaller[1], HasSubstr(" D=64 E=64 H=12 K=4 S=4 T=512 "));
}

TEST(SmallerCase, InputsThatDoNotFitAreDrawn) {
  std::string positions = "0";
  for (int i = 1; i < 300; ++i) positions += "," + std::to_string(i);
  const auto smaller =
      SmallerOf("rope pairing=half H=8 S=300 D=128 dtype=f32 @position=" + positions);
  ASSERT_EQ(smaller.size(), 1);
  EXPECT_THAT(smaller[0], AllOf(HasSubstr(" D=128 "), Not(HasSubstr("@position=0,1"))));
}

TEST(SmallerCase, ACaseOfFewRowsHasNone) {
  EXPECT_THAT(SmallerOf("rms_norm N=2 M=16384 dtype=f32"), IsEmpty());
  EXPECT_THAT(SmallerOf("rms_norm N=64 M=64 dtype=f32"), IsEmpty());
  EXPECT_THAT(SmallerOf("alibi_slopes H=64 dtype=f32"), IsEmpty());
}

// Two deviations at once are not looked for in a large case.
TEST(SmallerCase, ALargeAnswerHasTheCausesOfASmallerOne) {
  const DrawnCase large("rms_norm N=512 M=256 eps=0.5 dtype=f32 seed=1");
  Subject subject{.name = "two deviations", .recipe = "native"};
  subject.answer = [](const Case& c, const Tensors& inputs) {
    Answer answer;
    answer.outputs = EvaluateByRecipe(
        {c.With(std::vector<std::string>{"eps=0.125", "unit_offset=true"}), inputs,
         ParseRecipe("native", c.dtype())});
    for (double& y : answer.outputs[0].values.data) y = -y;
    return answer;
  };
  const Tensors answer = subject.answer(large.c, large.inputs).outputs;
  const Judge judge(large.c, large.inputs, large.recipe);
  Observation seen{large.c,          large.inputs, large.recipe, judge.golden(),
                   judge.permitted(), answer,       nullptr};
  const auto alone = CausesOf(seen);
  seen.subject = &subject;
  const auto asked = CausesOf(seen);
  ASSERT_FALSE(asked.empty());
  if (alone.empty()) EXPECT_THAT(asked[0].why, HasSubstr("; found in the smaller case `rms_norm"));
}

}  // namespace
}  // namespace sextant::oracle
