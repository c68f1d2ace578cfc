#include "oracle/attention/measured/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// D = 16, so the right scale is 1/4. Four query heads share two key heads.
const std::string kNarrowLine = "attention H=4 K=2 S=8 T=13 D=16 E=6 ";
constexpr size_t kFirstQuery = 13 - 8;  // the index of query 0 among the keys

PlantedAttention RightAttention() {
  PlantedAttention planted{.scale = 0.25};
  planted.key_head = [](size_t h) { return h / 2; };
  return planted;
}

std::vector<std::string> CausesIn(const std::string& line, const PlantedAttention& planted) {
  const AskedCase question(line);
  return question.Causes(planted.Answer(question.c, question.inputs));
}

TEST(MeasuredAttention, FindsNothingInARightAnswer) {
  for (const char* dtype : {"dtype=f32", "dtype=bf16"})
    EXPECT_THAT(CausesIn(kNarrowLine + dtype, RightAttention()), IsEmpty());
}

TEST(MeasuredAttention, NamesAScaleOfTheField) {
  PlantedAttention planted = RightAttention();
  planted.scale = 1 / std::sqrt(32.0);
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    EXPECT_THAT(CausesIn(kNarrowLine + dtype, planted),
                Contains("scale_changed (scores are multiplied by 0.1767767 = 1/sqrt(32), "
                         "expected 0.25)"));
  }
}

TEST(MeasuredAttention, MeasuresAnyScale) {
  PlantedAttention planted = RightAttention();
  planted.scale = 0.1372934;
  EXPECT_THAT(CausesIn(kNarrowLine + "dtype=f32", planted),
              Contains(testing::StartsWith("scale_changed (scores are multiplied by 0.13729")));
}

TEST(MeasuredAttention, MeasuresTheCap) {
  PlantedAttention planted = RightAttention();
  planted.cap = 37;
  EXPECT_THAT(CausesIn(kNarrowLine + "soft_cap=50 dtype=f32 @q=normal(30)", planted),
              Contains("soft_cap_changed (soft_cap is 37, expected 50)"));
}

TEST(MeasuredAttention, SaysHowFarQueriesSee) {
  PlantedAttention planted = RightAttention();
  planted.sees = [](size_t s, size_t t) { return t <= s + kFirstQuery + 3; };
  EXPECT_THAT(CausesIn(kNarrowLine + "mask=causal dtype=f32", planted),
              Contains("last_key_shifted (query s sees keys up to its own + 3, expected its own + "
                       "0 (8 queries))"));
}

TEST(MeasuredAttention, NamesAnotherWindow) {
  PlantedAttention planted = RightAttention();
  planted.sees = [](size_t s, size_t t) {
    return t <= s + kFirstQuery && s + kFirstQuery <= t + 3;
  };
  EXPECT_THAT(CausesIn(kNarrowLine + "mask=causal window=[6,0] dtype=bf16", planted),
              Contains("window_changed (the window is [3,0], expected [6,0])"));
}

TEST(MeasuredAttention, SaysWhichKeysAreMissing) {
  PlantedAttention planted = RightAttention();
  planted.sees = [](size_t, size_t t) { return t % 4 != 3; };
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    EXPECT_THAT(CausesIn(kNarrowLine + dtype, planted),
                Contains("keys_missing (key 3 of each 4 are missing)"));
  }
}

TEST(MeasuredAttention, NamesTwoDeviationsAtOnce) {
  PlantedAttention planted = RightAttention();
  planted.scale = 0.125;
  planted.key_head = [](size_t h) { return h % 2; };
  EXPECT_THAT(CausesIn(kNarrowLine + "dtype=f32", planted),
              Contains("heads_changed+scale_changed (query head h reads key and value head h % K, "
                       "expected h / (H/K), for H = 4 and K = 2; and scores are multiplied by "
                       "0.125 = 1/sqrt(64), expected 0.25)"));
  planted = RightAttention();
  planted.scale = 1;
  planted.sees = [](size_t, size_t t) { return t != 7; };
  EXPECT_THAT(CausesIn(kNarrowLine + "dtype=f32", planted),
              Contains("scale_changed+keys_missing (scores are multiplied by 1, expected 0.25; and "
                       "key 7 is missing)"));
}

// A query does not see its own key, and masked scores are finite: the first one gets the mean of
// all values, where the mask alone specifies nothing.
TEST(MeasuredAttention, NamesMeansOfQueriesWithoutKeys) {
  PlantedAttention planted = RightAttention();
  planted.masked_score = -100;  // far below the others
  planted.sees = [](size_t s, size_t t) { return t < s; };
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    EXPECT_THAT(
        CausesIn(std::string("attention H=4 K=2 S=8 T=8 D=16 E=6 mask=causal ") + dtype, planted),
        Contains("key_length_changed+mask_value (the number of keys is [7], expected 8; "
                 "and masked scores are finite, so that a query without keys gives the "
                 "mean of all values)"));
  }
}

// With a sink, such a query gives about 0, whatever the masked scores are.
TEST(MeasuredAttention, NamesNoMeansBesideASink) {
  PlantedAttention planted = RightAttention();
  planted.masked_score = -100;
  planted.sees = [](size_t s, size_t t) { return t < s; };
  EXPECT_THAT(
      CausesIn("attention with=sink H=4 K=2 S=8 T=8 D=16 E=6 mask=causal dtype=f32", planted),
      testing::Each(testing::Not(testing::HasSubstr("mask_value"))));
}

TEST(MeasuredAttention, CountsTheSink) {
  PlantedAttention planted = RightAttention();
  planted.sink_count = 3;
  EXPECT_THAT(CausesIn("attention with=sink H=4 K=2 S=8 T=13 D=16 E=6 dtype=f32", planted),
              Contains("sink_repeated (the sink counts 3 times)"));
}

TEST(MeasuredAttention, AccusesNoHonestRecipe) {
  for (const char* recipe : {"native softmax=bf16", "native score=bf16", "native dot=f16",
                             "native weigh=bf16", "f32_compute", "all_native"}) {
    const AskedCase question(kNarrowLine + "mask=causal dtype=f32");
    const Tensors answer =
        EvaluateByRecipe({question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
    for (const std::string& cause : question.Causes(answer))
      EXPECT_THAT(cause, testing::HasSubstr("_in_")) << recipe;  // a listed precision
  }
}

// Two numbers of one query are explained by many pairs of deviations.
TEST(MeasuredAttention, SaysNothingAboutTooFewNumbers) {
  const AskedCase question(
      "attention with=sink mask=causal query_offset=[1] H=1 S=1 T=3 D=77 E=77 dtype=f16");
  for (const char* recipe : {"native dot=f16", "native scale=bf16"}) {
    const Tensors answer =
        EvaluateByRecipe({question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
    EXPECT_THAT(question.Causes(answer), IsEmpty()) << recipe;
  }
}

}  // namespace
}  // namespace sextant::oracle
