#include "oracle/layer/measured/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class MeasuredEmbedding : public testing::TestWithParam<const char*> {
 protected:
  // What is said about row(token, place) of the table, times the scale.
  std::vector<std::string> If(const std::string& words, double scale,
                              size_t (*row)(size_t token, size_t place)) {
    const MeasuredCase question("embedding S=40 V=300 M=6 " + words + " dtype=" + GetParam());
    return question.Causes([&](size_t i) {
      const auto token = static_cast<size_t>(question.In("token").data[i / 6]);
      return question.In("table")(row(token, i / 6), i % 6) * scale;
    });
  }
};

TEST_P(MeasuredEmbedding, ShiftedTokens) {
  EXPECT_THAT(If("", 1, [](size_t token, size_t) { return (token + 3) % 300; }),
              Contains(AllOf(StartsWith("token_shifted: token + 3 is read instead of token"),
                             HasSubstr("different tokens of 40 read another row"))));
}

TEST_P(MeasuredEmbedding, ClampedTokens) {
  EXPECT_THAT(If("", 1, [](size_t t, size_t) { return std::min<size_t>(t, 250); }),
              Contains(StartsWith("token_clamped: tokens above 250 read row 250")));
}

TEST_P(MeasuredEmbedding, WrappedTokens) {
  EXPECT_THAT(If("", 1, [](size_t token, size_t) { return token % 96; }),
              Contains(StartsWith("token_wrapped: tokens are taken modulo 96")));
}

TEST_P(MeasuredEmbedding, ScaleAndShift) {
  EXPECT_THAT(If("scale=2", std::sqrt(6.0), [](size_t t, size_t) { return t > 0 ? t - 1 : 299; }),
              Contains(AllOf(StartsWith("scale+token_shifted: the table is multiplied by sqrt(6)"),
                             HasSubstr("expected 2; token - 1 is read"))));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredEmbedding, testing::Values("f32", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MeasuredEmbedding, HonestRecipesAndOtherBugsAreNotAccused) {
  const MeasuredCase question("embedding S=40 V=300 M=6 scale=0.1 dtype=f32");
  for (const char* recipe : {"native scale=bf16", "native scale=f16", "*=bf16"}) {
    EXPECT_THAT(question.Causes(EvaluateByRecipe(question.c, question.inputs,
                                                 ParseRecipe(recipe, DType::kF32))),
                IsEmpty())
        << recipe;
  }
  const Tensors right = question.CorrectAnswer();
  EXPECT_THAT(question.Causes([&](size_t i) { return i % 7 == 0 ? 0 : right[0].values.data[i]; }),
              IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
