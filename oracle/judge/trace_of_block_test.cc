// The trace names the wrong tensor of an answer in which all later tensors follow correctly from
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/judge/judge.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"

namespace sextant::oracle {
namespace {

struct WrongTensor {
  std::string line, at;
  size_t element = 0;
};

class TraceOfBlock : public testing::TestWithParam<WrongTensor> {};

TEST_P(TraceOfBlock, NamesTheWrongTensor) {
  const Case c = Case::Parse(GetParam().line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const Tensors right = EvaluateByRecipe({c, inputs, recipe});
  Tensors answer = right;
  const auto index = static_cast<size_t>(
      std::ranges::find(answer, GetParam().at, &NamedTensor::name) - answer.begin());
  ASSERT_LT(index, answer.size());
  const size_t element = GetParam().element;
  const double wrong = answer[index].values.data.at(element) + 0.5;
  answer[index].values.data[element] = wrong;
  // A tensor may have parts that depend on its earlier parts, such as the states of a decoder.
  for (size_t parts = 0; parts < 3; ++parts) {
    const Tensors given = {answer[index]};
    const ScopedTrace trace(given);
    answer = EvaluateByRecipe({c, inputs, recipe});
    answer[index].values.data[element] = wrong;
  }
  if (index > 0) {
    EXPECT_NE(answer[0].values.data, right[0].values.data)
        << "the first output does not depend on it";
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
                      "decoder_block pairing=half qk_norm=head placement=sandwich "
                      "S=3 M=6 H=4 K=2 D=4 F=5 dtype=f32",
                  kDecoder = "decoder pairing=half V=5 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=f32";

INSTANTIATE_TEST_SUITE_P(
    Each, TraceOfBlock,
    testing::Values(WrongTensor{kCross, "q"}, WrongTensor{kCross, "k"}, WrongTensor{kCross, "v"},
                    WrongTensor{kCross, "mean"}, WrongTensor{kCross, "y"},
                    WrongTensor{kPost, "attention_out"}, WrongTensor{kPost, "middle"},
                    WrongTensor{kPost, "hidden"}, WrongTensor{kPost, "y"},
                    WrongTensor{kPre, "attention_out"}, WrongTensor{kPre, "middle"},
                    WrongTensor{kPre, "hidden"}, WrongTensor{kPre, "y"},
                    WrongTensor{kBlock, "normed"}, WrongTensor{kBlock, "q_rotated", 8},
                    WrongTensor{kBlock, "k_rotated"}, WrongTensor{kBlock, "attention_out"},
                    WrongTensor{kBlock, "middle"}, WrongTensor{kBlock, "hidden"},
                    WrongTensor{kBlock, "y"}, WrongTensor{kNormed, "normed"},
                    WrongTensor{kNormed, "q_rotated", 8}, WrongTensor{kNormed, "k_rotated"},
                    WrongTensor{kNormed, "attention_out"}, WrongTensor{kNormed, "middle"},
                    WrongTensor{kNormed, "hidden"}, WrongTensor{kNormed, "y"},
                    WrongTensor{kDecoder, "states", 0}, WrongTensor{kDecoder, "states", 12},
                    WrongTensor{kDecoder, "states", 24}, WrongTensor{kDecoder, "logits"}));

}  // namespace
}  // namespace sextant::oracle
