#include "oracle/block/measured/stage_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/attention/measured/planted_attention_test.h"
#include "reference/case/intermediate.h"
#include "reference/prove/block_parts.h"

namespace sextant::oracle {
namespace {

constexpr const char* kStageDTypes[] = {"dtype=f32", "dtype=bf16"};
const std::string kCross = "cross_attention S=9 T=14 M=10 H=4 K=2 D=8 ",
                  kStageBlock = "decoder_block pairing=half S=12 M=14 H=2 K=1 D=8 F=10 ";

// The right answer with another tensor, from which the later ones follow.
Tensors AnswerWith(const DrawnCase& question, const std::string& name, Tensor<double> values) {
  const Tensors given = {{name, question.c.dtype(), std::move(values)}};
  const ScopedTrace trace(given);
  Tensors answer = question.CorrectAnswer();
  InputNamed(answer, name) = given[0].values;
  return answer;
}

Tensor<double> MeanOf(const DrawnCase& question, const PlantedAttention& planted) {
  Tensors in, right = question.CorrectAnswer();
  for (const char* name : {"q", "k", "v"}) {
    in.push_back({name, question.c.dtype(), InputNamed(right, name)});
    in.back().values.shape.insert(in.back().values.shape.begin(), 1);
  }
  return MergeHeads(planted.Answer(question.c, in)[0].values);
}

PlantedAttention Planted() {
  return {.scale = 1 / std::sqrt(8.0), .key_head = [](size_t h) { return h / 2; }};
}

void ExpectCauseOfMean(const PlantedAttention& planted, const std::string& text) {
  for (const char* dtype : kStageDTypes) {
    const AskedCase question(kCross + dtype);
    const Tensors answer = AnswerWith(question, "mean", MeanOf(question, planted));
    EXPECT_THAT(question.Causes(answer), Contains(StartsWith(text))) << dtype;
  }
}

TEST(SlowStageQuestion, MeasuresTheAttentionOfCrossAttention) {
  PlantedAttention planted = Planted();
  planted.sees = [](size_t, size_t t) { return t % 5 != 4; };
  ExpectCauseOfMean(planted, "keys_missing (first wrong at mean: key 4 of each 5 are missing");
  planted = Planted();
  planted.value_head = [](size_t h) { return 1 - h / 2; };
  ExpectCauseOfMean(planted, "heads_changed (first wrong at mean: query head h reads value head ");
}

TEST(SlowStageQuestion, SaysNothingOfAnUnknownAttention) {
  PlantedAttention planted = Planted();
  planted.score = [](size_t, double x) { return x + std::sin(5 * x); };
  for (const char* dtype : kStageDTypes) {
    const AskedCase question(kCross + dtype);
    const Tensors answer = AnswerWith(question, "mean", MeanOf(question, planted));
    EXPECT_THAT(question.Causes(answer), IsEmpty()) << dtype;
  }
}

// q = wq x + 3 bq.
TEST(StageQuestion, MeasuresTheProjectionsOfCrossAttention) {
  for (const char* dtype : kStageDTypes) {
    const AskedCase question(kCross + dtype);
    const auto& x = question.inputs[0].values.data;
    const auto& weight = InputNamed(question.inputs, "wq").data;
    const auto& bias = InputNamed(question.inputs, "bq").data;
    Tensor<double> q({4, 9, 8});
    for (size_t i = 0; i < q.data.size(); ++i) {
      const size_t row = i / (9 * 8) * 8 + i % 8, s = i / 8 % 9;
      double sum = 3 * bias[row];
      for (size_t j = 0; j < 10; ++j) sum += weight[row * 10 + j] * x[s * 10 + j];
      q.data[i] = RoundTo(question.c.dtype(), sum);
    }
    EXPECT_THAT(
        question.Causes(AnswerWith(question, "q", q)),
        Contains(StartsWith("bias_multiplied (first wrong at q: the bias is multiplied by 3")));
  }
}

// The mean square is that of 16 channels, the width of whole vectors, although there are 14.
TEST(SlowStageQuestion, MeasuresTheNormOfABlock) {
  for (const char* dtype : kStageDTypes) {
    const AskedCase question(kStageBlock + dtype);
    const auto& x = question.inputs[0].values;
    const auto& weight = InputNamed(question.inputs, "attn_norm").data;
    Tensor<double> normed(x.shape);
    for (size_t i = 0; i < x.data.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < 14; ++j) sum += x.data[i / 14 * 14 + j] * x.data[i / 14 * 14 + j];
      normed.data[i] =
          RoundTo(question.c.dtype(), x.data[i] * weight[i % 14] / std::sqrt(sum / 16 + 1e-5));
    }
    EXPECT_THAT(question.Causes(AnswerWith(question, "normed", normed)),
                Contains(StartsWith("mean_over_padding (first wrong at normed: ")));
  }
}

}  // namespace
}  // namespace sextant::oracle
