#include "oracle/attention/measured/query_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// D = 16, so the right scale is 1/4.
const std::string kCausal = "attention H=6 K=2 S=24 T=24 D=16 E=16 mask=causal dtype=";
const std::string kSink = "attention with=sink H=6 K=2 S=9 T=14 D=16 E=16 dtype=";
constexpr const char* kRuleDTypes[] = {"f32", "f16"};

void ExpectNamed(const std::string& line, const PlantedAttention& planted,
                 const std::string& text) {
  for (const char* dtype : kRuleDTypes)
    EXPECT_THAT(CausesOfSubject(line + dtype, planted), Contains(HasSubstr(text))) << dtype;
}

TEST(QueryRules, NameABiasThatIsLinearInTheDistance) {
  PlantedAttention planted = CausalAttention();
  planted.score_at = [](size_t h, size_t s, size_t t, double x) {
    return x - std::exp2(-8 * static_cast<double>(h + 1) / 6) * static_cast<double>(s - t);
  };
  ExpectNamed(kCausal, planted,
              "an ALiBi bias is added to the scores: -2^-(8 (h + 1) / H) (i - j)");
}

TEST(QueryRules, NameALogarithmOfThePlace) {
  PlantedAttention planted = CausalAttention();
  planted.score_at = [](size_t, size_t s, size_t, double x) {
    return x * std::max(1.0, std::log(static_cast<double>(s + 1)) / std::log(6.0));
  };
  ExpectNamed(
      kCausal, planted,
      "scores are multiplied by ln(i + 1) / ln(6), where i is the place of the query, or by "
      "1 if that is larger");
}

TEST(QueryRules, NameNormedKeys) {
  PlantedAttention planted = CausalAttention();
  const AskedCase question(kCausal + "f32");
  const auto& k = question.inputs[1].values.data;
  planted.score_at = [&k](size_t h, size_t, size_t t, double x) {
    double squares = 0;
    for (size_t d = 0; d < 16; ++d) squares += std::pow(k[(h / 3 * 24 + t) * 16 + d], 2);
    return x / std::sqrt(squares / 16);
  };
  EXPECT_THAT(CausesOfSubject(kCausal + "f32", planted),
              Contains(HasSubstr("keys are divided by the roots of their mean squares")));
}

TEST(KeyRules, NameFactorsAndSummandsOfKeys) {
  PlantedAttention planted = CausalAttention();
  planted.score_at = [](size_t, size_t, size_t t, double x) { return t >= 16 ? x * 1.4375 : x; };
  ExpectNamed(
      kCausal, planted,
      "scale_of_keys (scores are multiplied by a number of each key: keys 16 to 23 by 1.43");
  planted.score_at = [](size_t, size_t, size_t t, double x) { return t % 8 == 3 ? x + 0.75 : x; };
  ExpectNamed(kCausal, planted,
              "bias_of_keys (a number of each key is added to its scores: key 3: 0.7");
}

TEST(KeyRanges, NameTheFirstAndTheLastKey) {
  PlantedAttention planted = GroupedAttention();
  planted.sees = [](size_t s, size_t t) { return t <= s && (t >= 11 || s < 11); };
  ExpectNamed(kCausal, planted, "queries from key 11 on see no keys before it");
  planted.sees = [](size_t s, size_t t) { return t < (s + 4) / 4 * 4; };
  ExpectNamed(kCausal, planted,
              "the number of keys up to the last one that a query sees is rounded up to whole "
              "blocks of 4");
}

TEST(SumRules, NameMaskedKeysInTheSum) {
  PlantedAttention planted = CausalAttention();
  planted.has_hidden_in_sum = true;
  ExpectNamed(kCausal, planted, "the sum has the terms of the keys that the mask hides, too");
}

// Queries before the first key see none: there nothing is averaged.
TEST(SumRules, NameMaskedKeysBesideQueriesWithoutKeys) {
  PlantedAttention planted = GroupedAttention();
  planted.sees = [](size_t s, size_t t) { return t + 4 <= s; };
  planted.has_hidden_in_sum = true;
  EXPECT_THAT(CausesOfSubject("attention H=6 K=2 S=24 T=20 D=16 E=16 mask=causal dtype=f32 "
                              "empty_rows=unspecified",
                              planted),
              Contains(HasSubstr("the sum has the terms of the keys that the mask hides, too")));
}

TEST(QueryRules, NameABiasBesideASink) {
  PlantedAttention planted = CausalAttention();
  planted.score_at = [](size_t h, size_t s, size_t t, double x) {
    return x - std::exp2(-8 * static_cast<double>(h + 1) / 6) * static_cast<double>(s - t);
  };
  EXPECT_THAT(CausesOfSubject(
                  "attention with=sink H=6 K=2 S=24 T=24 D=16 E=16 mask=causal dtype=f32", planted),
              Contains(HasSubstr("an ALiBi bias is added to the scores")));
}

TEST(SumRules, NameSinksThatAreComparedWithOtherNumbers) {
  PlantedAttention planted = GroupedAttention();
  planted.sink_term = [](double sink, double largest, double) {
    return std::exp(sink - std::max(sink, largest));
  };
  EXPECT_THAT(CausesOfSubject(kSink + "f32", planted),
              Contains(HasSubstr("the sink is relative to the larger of the largest score and ")));
  planted.sink_term = [](double sink, double largest, double keys) {
    return keys * std::exp(sink - (largest + std::log(keys)) / std::numbers::ln2);
  };
  EXPECT_THAT(CausesOfSubject(kSink + "f32", planted),
              Contains(HasSubstr("the sink is compared with log2 of the sum")));
}

}  // namespace
}  // namespace sextant::oracle
