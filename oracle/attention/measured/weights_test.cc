#include "oracle/attention/measured/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// More keys than channels of values: three questions give the weights, and one their sums.
const std::string kLine = "attention H=4 K=2 S=8 T=13 D=16 E=5 ";
constexpr size_t kFirst = 13 - 8;  // the index of query 0 among the keys

PlantedAttention RightWeights() {
  PlantedAttention planted{.scale = 0.25};
  planted.key_head = [](size_t h) { return h / 2; };
  return planted;
}

TEST(MeasuredWeights, AreAskedInTheSameShape) {
  PlantedAttention planted = RightWeights();
  planted.scale = 0.3;
  int questions = 0;
  CausesOfSubject(kLine + "dtype=f32", planted, &questions);
  EXPECT_EQ(questions, 4);
}

// Each element of the answer is wrong in its own way.
struct NoSums : PlantedAttention {
  Tensors Answer(const Case& c, const Tensors& inputs) const {
    Tensors answer = PlantedAttention::Answer(c, inputs);
    std::vector<double>& y = answer[0].values.data;
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = RoundTo(answer[0].dtype, y[i] * (1 + 0.1 * std::sin(static_cast<double>(i * i))));
    return answer;
  }
};

TEST(MeasuredWeights, AreNotAskedIfAnswersAreNoSums) {
  int questions = 0;
  CausesOfSubject(kLine + "dtype=f32", NoSums{RightWeights()}, &questions);
  EXPECT_EQ(questions, 1);
}

// Which keys are seen depends on query and key in a way that no rule describes.
TEST(MeasuredWeights, CountKeysWithoutARule) {
  PlantedAttention planted = RightWeights();
  planted.sees = [](size_t s, size_t t) { return (s * 7 + t * 5) % 11 != 3; };
  size_t missing = 0;
  for (size_t s = 0; s < 8; ++s)
    for (size_t t = 0; t < 13; ++t) missing += !planted.sees(s, t);
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    EXPECT_THAT(CausesOfSubject(kLine + dtype, planted),
                Contains("visible_keys_changed (queries do not see " + std::to_string(missing) +
                         " keys that they should see, and see 0 that they should not see, in all "
                         "batches: query 0 sees keys 0 to 4, 6 to 12, expected 0 to 12; query 1 "
                         "sees keys 0 to 7, 9 to 12, expected 0 to 12; query 2 sees keys 1 to 10, "
                         "12, expected 0 to 12; and 5 more queries)"));
  }
}

TEST(MeasuredWeights, NameHeadsWithoutARule) {
  PlantedAttention planted = RightWeights();
  planted.key_head = [](size_t h) { return size_t{h == 0 || h == 3}; };
  EXPECT_THAT(CausesOfSubject(kLine + "dtype=f32", planted),
              Contains("heads_read (query heads 0 to 3 read the heads 1 0 0 1, expected 0 0 1 1)"));
}

// The scale does not hide which keys are seen.
TEST(MeasuredWeights, NameTwoDeviationsAtOnce) {
  PlantedAttention planted = RightWeights();
  planted.scale = 0.3;
  planted.sees = [](size_t s, size_t t) { return t <= s + kFirst + 2; };
  EXPECT_THAT(
      CausesOfSubject(kLine + "mask=causal dtype=f32", planted),
      Contains("mask_shifted+scale_changed (query s belongs to key s + 7, expected s + 5 (of "
               "8 queries); and scores are multiplied by 0.3, expected 0.25)"));
}

TEST(MeasuredWeights, SayNothingAboutARightAnswer) {
  EXPECT_THAT(CausesOfSubject(kLine + "dtype=f32", RightWeights()), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
