// Blocks whose answer is y alone. The worst-case bound hides defects; the sampled bound shows them.
#include "oracle/judge/likely.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/number/rounded/stochastic_rounding.h"

namespace sextant::oracle {
namespace {

// A case and its judge. Judged() drops the intermediates of the answer.
struct LikelyQuestion : DrawnCase {
  using DrawnCase::DrawnCase;
  Verdict Judged(Tensors answer) const {
    answer.resize(1);
    return judge.Evaluate(answer);
  }

  const Judge judge{c, inputs, recipe};
};

const std::string kBlock = "decoder_block pairing=half S=4 M=6 H=4 K=2 D=6 R=4 F=5 dtype=bf16",
                  kParallel =
                      "decoder_block pairing=half placement=parallel S=4 M=6 H=4 K=2 D=6 F=5 "
                      "dtype=bf16",
                  kNormed =
                      "decoder_block pairing=half qk_norm=head placement=sandwich S=3 M=6 "
                      "H=4 K=2 D=4 F=5 dtype=bf16",
                  kDecoder = "decoder pairing=half V=5 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=bf16",
                  kDeep = "decoder pairing=half V=5 L=3 S=3 M=6 H=4 K=2 D=6 F=5 dtype=f32",
                  kPost = "encoder_block S=3 M=5 H=2 D=3 F=4 dtype=bf16",
                  kPre = "encoder_block placement=pre S=3 M=5 H=2 D=3 F=4 dtype=bf16";

struct WrongBlock {
  std::string line, defect;
};

class WrongBlocks : public testing::TestWithParam<WrongBlock> {};

TEST_P(WrongBlocks, AreUnlikelyAtLeast) {
  const LikelyQuestion question(GetParam().line);
  const Defect& defect = DefectNamed(question.c.name(), GetParam().defect);
  const auto hypothesis = question.Of(defect);
  ASSERT_TRUE(hypothesis);
  EXPECT_GE(question.Judged(Predict(*hypothesis, question.c)).grade.value(), Grade::kUnlikely);
}

INSTANTIATE_TEST_SUITE_P(
    WrongBlock, WrongBlocks,
    testing::Values(
        WrongBlock{kBlock, "attention_residual_missing"},
        WrongBlock{kBlock, "feed_forward_residual_missing"},
        WrongBlock{kBlock, "gate_exchanged_with_up"}, WrongBlock{kBlock, "mask=none"},
        WrongBlock{kBlock, "heads_not_transposed"}, WrongBlock{kParallel, "gate_exchanged_with_up"},
        WrongBlock{kParallel, "mask=none"}, WrongBlock{kNormed, "gate_exchanged_with_up"},
        WrongBlock{kNormed, "mask=none"}, WrongBlock{kDecoder, "gate_exchanged_with_up"},
        WrongBlock{kDecoder, "mask=none"}, WrongBlock{kDeep, "values_rotated"},
        WrongBlock{kDeep, "keys_not_rotated"}, WrongBlock{kPost, "attention_residual_missing"},
        WrongBlock{kPost, "feed_forward_residual_missing"}, WrongBlock{kPost, "mask=causal"},
        WrongBlock{kPre, "attention_residual_missing"},
        WrongBlock{kPre, "feed_forward_residual_missing"}, WrongBlock{kPre, "mask=causal"}));

class HonestBlocks : public testing::TestWithParam<std::string> {};

// Recipes and seeds that the bound did not sample.
TEST_P(HonestBlocks, AreNeverUnlikely) {
  const LikelyQuestion question(GetParam());
  for (const char* line : {"native", "f32_compute", "*=f32 dot=f32:pairwise keep=T", "*=f32",
                           "exact", "exact_table"}) {
    const Tensors answer =
        EvaluateByRecipe({question.c, question.inputs, ParseRecipe(line, question.c.dtype())});
    EXPECT_LT(question.Judged(answer).grade.value(), Grade::kUnlikely) << line;
  }
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    const ScopedStochasticRounding rounding(seed);
    const Tensors answer = question.CorrectAnswer();
    EXPECT_LT(question.Judged(answer).grade.value(), Grade::kUnlikely) << seed;
  }
}

// The recipe claims 64 ulps for the functions of softmax. The answer has 64 times the errors of
// functions accurate to one ulp.
TEST(HonestFunctions, MayHaveErrorsOfAsManyUlpsAsTheRecipeClaims) {
  constexpr double kUlps = 64;
  const Case c = Case::Parse(
      "decoder_block pairing=half mask=none S=4 M=6 H=4 K=2 D=6 F=5 dtype=f32 @x=normal(4)");
  const Tensors inputs = DrawInputs(c);
  const Recipe one_ulp = ParseRecipe("*=exact softmax=f32 store=exact", c.dtype()),
               claimed = ParseRecipe("*=exact softmax=f32/64 store=T", c.dtype());
  const Judge judge(c, inputs, claimed);
  const GoldenTensor& golden = judge.golden()[0];
  for (uint64_t seed = 1000; seed < 1020; ++seed) {
    const ScopedStochasticRounding rounding(seed);
    Tensors answer = EvaluateByRecipe({c, inputs, one_ulp});
    answer.resize(1);
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      double& y = answer[0].values.data[i];
      const double error = (y - golden.high.data[i]) - golden.low.data[i];
      y = RoundTo(DType::kF32, golden.high.data[i] + (golden.low.data[i] + kUlps * error));
    }
    const Verdict verdict = judge.Evaluate(answer);
    EXPECT_EQ(verdict.status, Verdict::Status::kConforms) << seed;
    EXPECT_EQ(verdict.grade, Grade::kWithin) << seed;
  }
}

// The permitted error of every element is finite, and `likely` is at most as large.
TEST_P(HonestBlocks, HaveBoundedErrors) {
  const LikelyQuestion question(GetParam());
  for (const PermittedTensor& p : question.judge.permitted()) {
    for (size_t i = 0; i < p.error.data.size(); ++i) {
      EXPECT_LT(p.error.data[i], INFINITY) << p.name << " " << i;
      EXPECT_LE(p.likely.data[i], p.error.data[i]) << p.name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Right, HonestBlocks,
                         testing::Values(kBlock, kParallel, kNormed, kDecoder, kDeep, kPost, kPre));

// The scores between all tokens have lost all accuracy, so any mean of the values passes.
TEST(OpenBlocks, AreVerifiedOnlyWithIntermediates) {
  const LikelyQuestion question(
      "decoder_block pairing=half mask=none S=4 M=32 H=4 K=2 D=16 F=40 dtype=bf16 @x=normal(8)");
  const Tensors answer = question.CorrectAnswer();
  const Verdict y_alone = question.Judged(answer);
  EXPECT_EQ(y_alone.status, Verdict::Status::kUnverified);
  EXPECT_EQ(y_alone.message, "no element of y could have failed");
  EXPECT_EQ(question.judge.Evaluate(answer).status, Verdict::Status::kConforms);
  EXPECT_EQ(question.judge.Evaluate(answer).message, "");
}

}  // namespace
}  // namespace sextant::oracle
