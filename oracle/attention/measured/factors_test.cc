#include "oracle/attention/measured/factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// D = 16, so the right scale is 1/4. Six query heads share two key heads.
const std::string kPlain = "attention H=6 K=2 S=9 T=14 D=16 E=16 ";
const std::string kCausalFactors = "attention H=6 K=2 S=14 T=14 D=16 E=16 mask=causal ";
const std::string kSinkFactors = "attention with=sink H=6 K=2 S=9 T=14 D=16 E=16 ";
constexpr const char* kFactorDTypes[] = {"dtype=f32", "dtype=bf16"};

void ExpectFactorNamed(const std::string& line, const PlantedAttention& planted,
                       const std::string& text) {
  for (const char* dtype : kFactorDTypes)
    EXPECT_THAT(CausesOfSubject(line + dtype, planted), Contains(StartsWith(text))) << dtype;
}

TEST(MeasuredFactors, AreNoneInARightAnswer) {
  for (const char* dtype : kFactorDTypes) {
    EXPECT_THAT(CausesOfSubject(kPlain + dtype, GroupedAttention()), IsEmpty());
    EXPECT_THAT(CausesOfSubject(kCausalFactors + dtype, CausalAttention()), IsEmpty());
    EXPECT_THAT(CausesOfSubject(kSinkFactors + dtype, GroupedAttention()), IsEmpty());
  }
}

TEST(MeasuredFactors, NameHeads) {
  PlantedAttention planted = GroupedAttention();
  planted.value_head = [](size_t h) { return size_t{h == 1 || h == 4}; };
  ExpectFactorNamed(
      kPlain, planted,
      "heads_read (query heads 0 to 5 read the heads of values 0 1 0 0 1 0, expected 0 0 0 "
      "1 1 1)");
  planted = GroupedAttention();
  planted.query_head = [](size_t h) { return (h + 2) % 6; };
  planted.key_head = [](size_t h) { return (h + 2) % 6 / 3; };
  planted.scale = 0.225;
  for (const char* dtype : kFactorDTypes)
    EXPECT_THAT(CausesOfSubject(kPlain + dtype, planted),
                Contains(StartsWith("heads_moved+scale_changed (heads 0 to 5 of y are those of "
                                    "query heads 2 3 4 5 0 1; and scores are multiplied by 0.22")));
}

TEST(MeasuredFactors, NameTheScaleOfSomeHeads) {
  PlantedAttention planted = GroupedAttention();
  planted.score = [](size_t h, double x) { return h % 2 == 1 ? 2 * x : x; };
  ExpectFactorNamed(
      kPlain, planted,
      "scale_of_heads (scores of some heads are multiplied in addition: head 1 by 2, 3 by "
      "2, 5 by 2)");
}

TEST(MeasuredFactors, NameEqualWeights) {
  PlantedAttention planted = CausalAttention();
  planted.scale = 0;
  ExpectFactorNamed(kCausalFactors, planted,
                    "weights_equal (all keys that a query sees have the same weight");
}

TEST(MeasuredFactors, NameTheLargestKeyAlone) {
  PlantedAttention planted = GroupedAttention();
  planted.scale = 20000;
  ExpectFactorNamed("attention scale=0.25 H=6 K=2 S=9 T=14 D=16 E=16 ", planted,
                    "weights_of_largest_key (only the key with the largest score counts)");
}

TEST(MeasuredFactors, NameTermsOfTheSum) {
  PlantedAttention planted = GroupedAttention();
  planted.zeros = 3;
  ExpectFactorNamed(kPlain, planted,
                    "zeros_in_the_sum (e^0 is added 3 times to the sum of e^score)");
  planted = GroupedAttention();
  planted.increase = 1;
  ExpectFactorNamed(kPlain, planted,
                    "sum_increased (1 is added to the sum of e^(score - largest))");
}

TEST(MeasuredFactors, NameAFactorOfTheAnswerBesideTheScale) {
  PlantedAttention planted = GroupedAttention();
  planted.gain = 1.25;
  planted.scale = 1;
  ExpectFactorNamed(
      kPlain, planted,
      "scale_changed+y_multiplied (scores are multiplied by 1, expected 0.25; and y is "
      "multiplied by 1.25)");
}

TEST(MeasuredFactors, NameValuesOfOtherKeys) {
  PlantedAttention planted = GroupedAttention();
  planted.later = 1;
  planted.zeros = 2;
  ExpectFactorNamed(
      kPlain, planted,
      "values_of_other_keys+zeros_in_the_sum (the weight of key t multiplies the value of "
      "key (t + 1) mod 14; and e^0 is added 2 times to the sum of e^score (the keys are "
      "padded to a multiple of 4 or 8 or 16))");
}

TEST(MeasuredFactors, NameTheScoreOfMaskedKeys) {
  PlantedAttention planted = CausalAttention();
  planted.masked_score = -3;
  ExpectFactorNamed(kCausalFactors, planted,
                    "mask_value (masked keys have the score -3, expected -infinity)");
}

TEST(MeasuredFactors, NameKeysOfSomeHeads) {
  PlantedAttention planted = CausalAttention();
  planted.score_at = [](size_t h, size_t s, size_t t, double x) {
    return h % 2 == 1 && t + 4 <= s ? -INFINITY : x;
  };
  ExpectFactorNamed(kCausalFactors, planted,
                    "keys_of_heads_changed (in heads 1, 3, 5, the window is [3,-1], expected none");
}

TEST(MeasuredFactors, NameAMaskOfPackedRows) {
  PlantedAttention planted = GroupedAttention();
  planted.score_at = [](size_t h, size_t s, size_t t, double x) {
    return t > s * 3 + h % 3 ? -INFINITY : x;
  };
  ExpectFactorNamed(
      kCausalFactors, planted,
      "mask_of_packed_rows (the mask counts the rows of the 3 heads that share a key head: "
      "query s of head h sees keys up to s * 3 + h mod 3)");
}

TEST(MeasuredFactors, NameACapThatCutsScoresOff) {
  PlantedAttention planted = GroupedAttention();
  planted.score = [](size_t, double x) { return std::clamp(x, -5.0, 5.0); };
  ExpectFactorNamed("attention soft_cap=5 H=6 K=2 S=9 T=14 D=16 E=16 @q=normal(4) ", planted,
                    "soft_cap_clips (the cap cuts scores off");
}

TEST(MeasuredFactors, NameSinksOfOtherHeads) {
  PlantedAttention planted = GroupedAttention();
  planted.sink = [](size_t h, const std::vector<double>& sinks) { return sinks[(h + 2) % 6]; };
  planted.scale = 0.3;
  for (const char* dtype : kFactorDTypes)
    EXPECT_THAT(CausesOfSubject(kSinkFactors + dtype, planted),
                Contains(StartsWith("scale_changed+sink_of_other_head (scores are multiplied by "
                                    "0.3")));
}

// The heads of the sinks are measured one by one, and so is a factor of all sinks.
TEST(MeasuredFactors, NameTheSinksThatHeadsRead) {
  PlantedAttention planted = GroupedAttention();
  planted.sink = [](size_t h, const std::vector<double>& sinks) { return sinks[h / 3]; };
  planted.scale = -0.25;
  for (const char* dtype : kFactorDTypes)
    EXPECT_THAT(CausesOfSubject(kSinkFactors + dtype, planted),
                Contains(testing::HasSubstr("heads 0 to 5 have the sinks of heads 0 0 0 1 1 1")));
  planted.sink = [](size_t h, const std::vector<double>& sinks) { return 0.375 * sinks[h]; };
  EXPECT_THAT(CausesOfSubject(kSinkFactors + "dtype=f32", planted),
              Contains(testing::HasSubstr("the sink is multiplied by 0.375")));
}

// Weights of keys in tiles of 8, each relative to the largest score up to the end of its tile.
struct PlantedTiles {
  PlantedAttention planted;

  Tensors Answer(const Case& c, const Tensors& in) const {
    const size_t H = in[0].values.shape[1], S = in[0].values.shape[2], T = in[1].values.shape[2];
    Tensor<double> y(in[0].values.shape);
    const size_t D = y.shape[3];
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t e = i % D, s = i / D % S, h = i / D / S % H;
      std::vector<double> scores;
      for (size_t t = 0; t < T; ++t) scores.push_back(planted.Score(in, 0, h, s, t));
      double sum = 0, weighted = 0;
      for (size_t t = 0; t < T; ++t) {
        const auto end = scores.begin() + std::min(T, (t / 8 + 1) * 8);
        const double weight = std::exp(scores[t] - *std::max_element(scores.begin(), end));
        sum += weight;
        weighted += weight * in[2].values.data[(planted.value_head(h) * T + t) * D + e];
      }
      y.data[i] = RoundTo(c.dtype(), weighted / sum);
    }
    return {{"y", c.dtype(), y}};
  }
};

TEST(MeasuredFactors, NameTilesBesideTheHeadsOfValues) {
  PlantedTiles planted{GroupedAttention()};
  planted.planted.value_head = [](size_t) { return size_t{0}; };
  EXPECT_THAT(CausesOfSubject("attention H=6 K=2 S=9 T=30 D=16 E=16 dtype=f32", planted),
              Contains(testing::AllOf(testing::HasSubstr("heads of values 0 0 0 0 0 0"),
                                      testing::HasSubstr("each tile of 8 keys"))));
}

TEST(MeasuredFactors, NameASinkThatIsNotShifted) {
  PlantedAttention planted = GroupedAttention();
  planted.sink_is_shifted = false;
  ExpectFactorNamed(kSinkFactors, planted,
                    "sink_not_shifted (e^sink is added to the sum of e^(score - largest)");
}

// A chunk of 5 in f32 and bf16, and a scale beside it.
TEST(MeasuredFactors, NameTheMaskBesideTheScale) {
  PlantedAttention planted = CausalAttention();
  planted.sees = [](size_t s, size_t t) { return t <= s && s / 5 == t / 5; };
  planted.scale = 0.5;
  ExpectFactorNamed(
      kCausalFactors, planted,
      "chunk_changed+scale_changed (the length of a chunk is 5, expected none; and scores "
      "are multiplied by 0.5");
}

// In attention with=bias the fourth input is added to the scores.
struct PlantedBias {
  PlantedAttention planted;
  size_t next_key = 0, next_head = 0;  // the bias is that of a later key or head

  Tensors Answer(const Case& c, const Tensors& in) const {
    const Shape& shape = in[3].values.shape;
    const size_t H = shape[1], S = shape[2], T = shape[3];
    Tensor<double> y(in[0].values.shape);
    const size_t D = y.shape[3];
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t e = i % D, s = i / D % S, h = i / D / S % H;
      double sum = 0, weighted = 0;
      for (size_t t = 0; t < T; ++t) {
        const size_t other = (h + next_head) % H, key = (t + next_key) % T;
        const double bias = in[3].values.data[(other * S + s) * T + key];
        const double weight = std::exp(planted.Score(in, 0, h, s, t) + bias);
        sum += weight;
        weighted += weight * in[2].values.data[(planted.key_head(h) * T + t) * D + e];
      }
      y.data[i] = RoundTo(c.dtype(), weighted / sum);
    }
    return {{"y", c.dtype(), y}};
  }
};

TEST(MeasuredFactors, NameAnotherBiasBesideTheScaleAndTheHeads) {
  const std::string line = "attention with=bias H=6 K=2 S=9 T=14 D=16 E=16 ";
  for (const char* dtype : kFactorDTypes) {
    PlantedBias planted{.planted = GroupedAttention(), .next_key = 1};
    planted.planted.scale = 0.425;
    EXPECT_THAT(CausesOfSubject(line + dtype, planted),
                Contains(StartsWith("bias_changed+scale_changed (bias has its keys in another "
                                    "order, along T: rolled by 1 to the left; and scores are "
                                    "multiplied by 0.42")));
    // Three at once are measured with asked weights alone.
    planted.planted.key_head = [](size_t h) { return 1 - h / 3; };
    EXPECT_THAT(CausesOfSubject(line + dtype, planted),
                Contains(StartsWith("bias_changed+heads_read+scale_changed (bias has its keys in "
                                    "another order, along T: rolled by 1 to the left")));
    planted = {.planted = GroupedAttention(), .next_head = 1};
    planted.planted.key_head = [](size_t h) { return 1 - h / 3; };
    EXPECT_THAT(CausesOfSubject(line + dtype, planted),
                Contains(StartsWith("bias_changed+heads_read (bias has its heads in another order, "
                                    "along H: rolled by 1 to the left")));
  }
}

// Queries that see no key are 0: that follows from the length.
struct PlantedLength {
  PlantedAttention planted = GroupedAttention();
  size_t missing = 5;  // keys at the end; the last query belongs to the last key that is left

  Tensors Answer(const Case& c, const Tensors& in) const {
    PlantedAttention shorter = planted;
    const size_t left = in[1].values.shape[2] - missing;
    shorter.sees = [=, this](size_t s, size_t t) { return t < left && t + missing <= s; };
    Tensors y = shorter.Answer(c, in);
    for (double& x : y[0].values.data)
      if (std::isnan(x)) x = 0;
    return y;
  }
};

TEST(MeasuredFactors, NameALengthThatLeavesQueriesWithoutKeys) {
  PlantedLength planted;
  planted.planted.scale = 0.5;
  for (const char* dtype : kFactorDTypes) {
    EXPECT_THAT(
        CausesOfSubject("attention mask=causal H=6 K=2 S=14 T=14 D=16 E=16 " + std::string(dtype),
                        planted),
        ElementsAre(StartsWith("key_length_changed+scale_changed (the number of keys is "
                               "[9], expected 14")));
  }
}

// Rows that were not written say nothing about keys.
TEST(MeasuredFactors, LeaveRowsOfZerosToTheStructure) {
  const AskedCase question(kPlain + "dtype=f32");
  PlantedAttention planted = GroupedAttention();
  planted.sees = [](size_t, size_t t) { return t >= 4; };
  const auto answer = [&](const Case& c, const Tensors& inputs) {
    Tensors y = planted.Answer(c, inputs);
    for (size_t i = 0; i < y[0].values.data.size(); ++i)
      if (i / 16 % 9 == 8) y[0].values.data[i] = 0;
    return y;
  };
  const Subject subject{"planted", "native", [&](const Case& c, const Tensors& inputs) {
                          return Answer{.message = "", .outputs = answer(c, inputs)};
                        }};
  EXPECT_THAT(question.Causes(answer(question.c, question.inputs), &subject),
              testing::ElementsAre(StartsWith("unwritten (y is 0 at S 8"),
                                   StartsWith("keys_missing (keys 0 to 3 are missing")));
}

}  // namespace
}  // namespace sextant::oracle
