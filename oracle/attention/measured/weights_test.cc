#include "oracle/attention/measured/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::IsEmpty;

// More keys than channels of values: three questions give the weights.
const std::string kLine = "attention H=4 K=2 S=8 T=13 D=16 E=5 ";
constexpr size_t kFirst = 13 - 8;  // the index of query 0 among the keys

PlantedAttention Right() {
  PlantedAttention planted{.scale = 0.25};
  planted.key_head = [](size_t h) { return h / 2; };
  return planted;
}

std::vector<std::string> CausesIn(const std::string& line, const PlantedAttention& planted,
                                  int* questions = nullptr) {
  const DrawnCase question(line);
  const Subject subject{"planted", "native", [&](const Case& c, const Tensors& inputs) {
                          if (questions) ++*questions;
                          return Answer{.message = "", .outputs = planted.Answer(c, inputs)};
                        }};
  return CausesOfAnswer(question, planted.Answer(question.c, question.inputs), &subject);
}

TEST(MeasuredWeights, AreAskedInTheSameShape) {
  PlantedAttention planted = Right();
  planted.scale = 0.3;
  int questions = 0;
  CausesIn(kLine + "dtype=f32", planted, &questions);
  EXPECT_EQ(questions, 3);
}

// Which keys are seen depends on query and key in a way that no rule describes.
TEST(MeasuredWeights, CountKeysWithoutARule) {
  PlantedAttention planted = Right();
  planted.sees = [](size_t s, size_t t) { return (s * 7 + t * 5) % 11 != 3; };
  size_t missing = 0;
  for (size_t s = 0; s < 8; ++s)
    for (size_t t = 0; t < 13; ++t) missing += !planted.sees(s, t);
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    EXPECT_THAT(CausesIn(kLine + dtype, planted),
                Contains("visible_keys_changed (queries do not see " + std::to_string(missing) +
                         " keys that they should see, and see 0 that they should not see, in all "
                         "batches)"));
  }
}

TEST(MeasuredWeights, NameHeadsWithoutARule) {
  PlantedAttention planted = Right();
  planted.key_head = [](size_t h) { return size_t{h == 0 || h == 3}; };
  EXPECT_THAT(CausesIn(kLine + "dtype=f32", planted),
              Contains("heads_read (query heads 0 to 3 read the heads 1 0 0 1, expected 0 0 1 1)"));
}

// The scale does not hide which keys are seen.
TEST(MeasuredWeights, NameTwoDeviationsAtOnce) {
  PlantedAttention planted = Right();
  planted.scale = 0.3;
  planted.sees = [](size_t s, size_t t) { return t <= s + kFirst + 2; };
  EXPECT_THAT(CausesIn(kLine + "mask=causal dtype=f32", planted),
              Contains("last_key_shifted+scale_changed (query s sees keys up to its own + 2, "
                       "expected its own + 0; and scores are multiplied by 0.3, expected "
                       "0.25)"));
}

TEST(MeasuredWeights, SayNothingAboutARightAnswer) {
  EXPECT_THAT(CausesIn(kLine + "dtype=f32", Right()), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
