#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/attention/measured/planted_attention_test.h"
#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

// D = 16, so the right scale is 1/4. Four query heads share two key heads.
const std::string kFused =
    "rope_attention pairing=half H=4 K=2 S=9 T=14 D=16 E=16 @position_q=5..13 ";
const std::string kCausalRope = kFused + "mask=causal ";

// Rotations and attention, planted together.
struct PlantedFused {
  Plain of_queries, of_keys;
  PlantedAttention attention{.scale = 0.25, .key_head = [](size_t h) { return h / 2; }};

  Tensors Answer(const Case& c, const Tensors& in) const {
    const auto turned = [&](size_t i, const Plain& rotation) {
      return NamedTensor{in[i].name, in[i].dtype,
                         rotation(in[i].values, in[3 + i].values, in[i].dtype)};
    };
    return attention.Answer(c, {turned(0, of_queries), turned(1, of_keys), in[2]});
  }
};

PlantedFused Causal() {
  PlantedFused planted;
  planted.attention.sees = [](size_t s, size_t t) { return t <= s + 5; };
  return planted;
}

void ExpectCause(const std::string& line, const PlantedFused& planted, const std::string& text) {
  for (const char* dtype : kDTypes)
    EXPECT_THAT(CausesOfSubject(line + dtype, planted), Contains(StartsWith(text))) << dtype;
}

TEST(MeasuredRopeAttention, FindsNothingInARightAnswer) {
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(CausesOfSubject(kFused + dtype, PlantedFused()), IsEmpty());
    EXPECT_THAT(CausesOfSubject(kCausalRope + dtype, Causal()), IsEmpty());
  }
}

TEST(MeasuredRopeAttention, NamesHeadsThatAreReadAfterTheRotation) {
  PlantedFused planted = Causal();
  planted.attention.value_head = [](size_t h) { return size_t{h == 1}; };
  ExpectCause(kCausalRope, planted,
              "heads_read (query heads 0 to 3 read the heads of values 0 1 0 0, expected 0 0 1 1)");
  planted = {};
  planted.attention.query_head = [](size_t h) { return (h + 1) % 4; };
  planted.attention.key_head = [](size_t h) { return (h + 1) % 4 / 2; };
  planted.attention.scale = 0.21;
  for (const char* dtype : kDTypes)
    EXPECT_THAT(CausesOfSubject(kFused + dtype, planted),
                Contains(StartsWith("heads_moved+scale_changed (heads 0 to 3 of y are those of "
                                    "query heads 1 2 3 0; and scores are multiplied by 0.2")));
}

TEST(MeasuredRopeAttention, NamesTheScaleOfSomeHeads) {
  PlantedFused planted;
  planted.attention.score = [](size_t h, double x) { return h == 2 ? 1.75 * x : x; };
  ExpectCause(kFused, planted,
              "scale_of_heads (scores of some heads are multiplied in addition: head 2 by 1.7");
}

TEST(MeasuredRopeAttention, NamesTermsOfTheSumBesideTheScale) {
  PlantedFused planted;
  planted.attention.zeros = 5;
  planted.attention.scale = 0.3;
  for (const char* dtype : kDTypes)
    EXPECT_THAT(CausesOfSubject(kFused + dtype, planted),
                Contains(testing::AllOf(
                    StartsWith("scale_changed+zeros_in_the_sum (scores are multiplied by 0."),
                    testing::HasSubstr("e^0 is added 5 times to the sum of e^score"))));
}

TEST(MeasuredRopeAttention, NamesTheMaskBesideTheScale) {
  PlantedFused planted;
  planted.attention.sees = [](size_t s, size_t t) { return t <= s + 5 && (s + 5) / 6 == t / 6; };
  planted.attention.scale = 0.5;
  ExpectCause(kCausalRope, planted,
              "chunk_changed+scale_changed (the length of a chunk is 6, expected none; and scores "
              "are multiplied by 0.5");
}

// Without further questions, from the answers alone.
TEST(MeasuredRopeAttention, CountsKeysByAnswers) {
  PlantedFused planted;
  planted.attention.sees = [](size_t, size_t t) { return t % 5 != 4; };
  for (const char* dtype : kDTypes) {
    const AskedCase question(kFused + dtype);
    EXPECT_THAT(question.Causes(planted.Answer(question.c, question.inputs)),
                Contains("keys_missing (key 4 of each 5 are missing)"));
  }
}

TEST(MeasuredRopeAttention, NamesARotationBesideTheScale) {
  PlantedFused planted;
  planted.of_queries.frequency = planted.of_keys.frequency = [](size_t k, size_t R) {
    return std::pow(500000.0L, -2.0L * k / R);
  };
  planted.attention.scale = 0.4;
  ExpectCause(kFused, planted,
              "base_changed+scale_changed (base is 500000, expected 10000; and scores are "
              "multiplied by 0.4");
}

TEST(MeasuredRopeAttention, NamesPositionsBesideTheHeads) {
  PlantedFused planted;
  planted.of_queries.position = [](long double p, size_t, size_t) { return std::min(p, 9.0L); };
  planted.attention.key_head = [](size_t h) { return size_t{h == 1}; };
  ExpectCause(kFused, planted,
              "position_q_clamped+heads_read (position_q: positions above 9 act as 9 (4 of 9 such "
              "tokens); and query heads 0 to 3 read the heads 0 1 0 0, expected 0 0 1 1)");
}

TEST(SlowMeasuredRopeAttention, AccusesNoHonestRecipe) {
  for (const char* recipe : {"native softmax=bf16", "native score=bf16", "native angle=f16",
                             "native keep=f16", "native frequency=f32:iterated", "f32_compute"}) {
    const AskedCase question(kCausalRope + "dtype=f32");
    const Recipe steps = ParseRecipe(recipe, question.c.dtype());
    const Subject subject{
        "honest", recipe, [&](const Case& c, const Tensors& inputs) {
          return Answer{.message = "", .outputs = EvaluateByRecipe({c, inputs, steps})};
        }};
    const Tensors answer = EvaluateByRecipe({question.c, question.inputs, steps});
    for (const std::string& cause : question.Causes(answer, &subject))
      EXPECT_THAT(cause, testing::HasSubstr("_in_")) << recipe;  // a listed precision
  }
}

}  // namespace
}  // namespace sextant::oracle
