// Blocks with one wrong tensor, and everything after it right: the trace names that tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/judge.h"
#include "reference/draw.h"
#include "reference/trace.h"

namespace sextant::oracle {
namespace {

struct Wrong {
  std::string line, at;
};

class Blocks : public testing::TestWithParam<Wrong> {};

TEST_P(Blocks, NameTheTensorThatIsWrong) {
  const Case c = Case::Parse(GetParam().line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors answer = AnswerBy(c, inputs, recipe);
  const auto index = static_cast<size_t>(
      std::ranges::find(answer, GetParam().at, &NamedTensor::name) - answer.begin());
  ASSERT_LT(index, answer.size());
  NamedTensor wrong = answer[index];
  wrong.values.data[0] += 0.5;
  {
    const Tensors given = {wrong};
    const Tracing tracing(given);
    answer = AnswerBy(c, inputs, recipe);
  }
  answer[index] = wrong;
  const Verdict verdict = Judgement(c, inputs, recipe)(answer);
  EXPECT_EQ(verdict.status, Verdict::Status::kFails);
  EXPECT_THAT(verdict.message, testing::HasSubstr("first wrong at " + wrong.name));
  ASSERT_EQ(verdict.trace.size(), answer.size());
  for (const auto& step : verdict.trace)
    EXPECT_EQ(step.failed, step.name == wrong.name) << step.name;
}

const std::string kCross = "cross_attention S=3 T=4 M=5 H=4 K=2 D=2 dtype=f32",
                  kPost = "encoder_block S=3 M=4 H=2 D=2 F=3 dtype=f32",
                  kPre = "encoder_block placement=pre S=3 M=4 H=2 D=2 F=3 dtype=f32";

INSTANTIATE_TEST_SUITE_P(Each, Blocks,
                         testing::Values(Wrong{kCross, "q"}, Wrong{kCross, "k"}, Wrong{kCross, "v"},
                                         Wrong{kCross, "mean"}, Wrong{kCross, "y"},
                                         Wrong{kPost, "attention_out"}, Wrong{kPost, "middle"},
                                         Wrong{kPost, "hidden"}, Wrong{kPost, "y"},
                                         Wrong{kPre, "attention_out"}, Wrong{kPre, "middle"},
                                         Wrong{kPre, "hidden"}, Wrong{kPre, "y"}));

}  // namespace
}  // namespace sextant::oracle
