// Blocks with one wrong tensor, and everything after it right: the trace names that tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/judge/judge.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"

namespace sextant::oracle {
namespace {

struct Wrong {
  std::string line, at;
  size_t element = 0;
};

class Blocks : public testing::TestWithParam<Wrong> {};

TEST_P(Blocks, NameTheTensorThatIsWrong) {
  const Case c = Case::Parse(GetParam().line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const Tensors right = AnswerBy(c, inputs, recipe);
  Tensors answer = right;
  const auto index = static_cast<size_t>(
      std::ranges::find(answer, GetParam().at, &NamedTensor::name) - answer.begin());
  ASSERT_LT(index, answer.size());
  const size_t element = GetParam().element;
  const double wrong = answer[index].values.data.at(element) + 0.5;
  answer[index].values.data[element] = wrong;
  // A tensor may have parts that follow one from the other, as a decoder's states do.
  for (size_t parts = 0; parts < 3; ++parts) {
    const Tensors given = {answer[index]};
    const ScopedTrace tracing(given);
    answer = AnswerBy(c, inputs, recipe);
    answer[index].values.data[element] = wrong;
  }
  if (index > 0) {
    EXPECT_NE(answer[0].values.data, right[0].values.data) << "nothing goes on from it";
  }
  const Verdict verdict = Judge(c, inputs, recipe).Evaluate(answer);
  EXPECT_EQ(verdict.status, Verdict::Status::kFails);
  EXPECT_THAT(verdict.message, testing::HasSubstr("first wrong at " + GetParam().at));
  ASSERT_EQ(verdict.trace.size(), answer.size());
  for (const auto& step : verdict.trace)
    EXPECT_EQ(step.failed, step.name == GetParam().at) << step.name;
}

const std::string kCross = "cross_attention S=3 T=4 M=5 H=4 K=2 D=2 dtype=f32",
                  kPost = "encoder_block S=3 M=4 H=2 D=2 F=3 dtype=f32",
                  kPre = "encoder_block placement=pre S=3 M=4 H=2 D=2 F=3 dtype=f32",
                  kBlock = "decoder_block pairing=half S=3 M=6 H=4 K=2 D=4 F=5 dtype=f32",
                  kNormed =
                      "decoder_block_normed pairing=half qk_norm=head placement=sandwich "
                      "S=3 M=6 H=4 K=2 D=4 F=5 dtype=f32",
                  kDecoder = "decoder pairing=half V=5 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=f32";

INSTANTIATE_TEST_SUITE_P(
    Each, Blocks,
    testing::Values(Wrong{kCross, "q"}, Wrong{kCross, "k"}, Wrong{kCross, "v"},
                    Wrong{kCross, "mean"}, Wrong{kCross, "y"}, Wrong{kPost, "attention_out"},
                    Wrong{kPost, "middle"}, Wrong{kPost, "hidden"}, Wrong{kPost, "y"},
                    Wrong{kPre, "attention_out"}, Wrong{kPre, "middle"}, Wrong{kPre, "hidden"},
                    Wrong{kPre, "y"}, Wrong{kBlock, "normed"}, Wrong{kBlock, "q_rotated", 8},
                    Wrong{kBlock, "k_rotated"}, Wrong{kBlock, "attention_out"},
                    Wrong{kBlock, "middle"}, Wrong{kBlock, "hidden"}, Wrong{kBlock, "y"},
                    Wrong{kNormed, "normed"}, Wrong{kNormed, "q_rotated", 8},
                    Wrong{kNormed, "k_rotated"}, Wrong{kNormed, "attention_out"},
                    Wrong{kNormed, "middle"}, Wrong{kNormed, "hidden"}, Wrong{kNormed, "y"},
                    Wrong{kDecoder, "states", 0}, Wrong{kDecoder, "states", 12},
                    Wrong{kDecoder, "states", 24}, Wrong{kDecoder, "logits"}));

}  // namespace
}  // namespace sextant::oracle
