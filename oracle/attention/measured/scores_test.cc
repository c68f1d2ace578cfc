#include "oracle/attention/measured/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

// Scores in plain loops of doubles. Shares no code with the formula.
struct PlantedScores {
  double scale = 0.25;  // D = 16
  std::function<size_t(size_t)> key_head = [](size_t h) { return h / 3; };
  std::function<double(size_t)> count = [](size_t) { return 1; };  // of a channel
  bool reversed = false;                                           // the channels of the keys
  bool masked = false;                                             // keys after the query's own

  std::vector<std::string> Causes(const std::string& dtype) const {
    constexpr size_t H = 6, S = 7, T = 9, D = 16;
    const AskedCase question("attention_scores H=6 K=2 S=7 T=9 D=16 dtype=" + dtype);
    Tensors answer = question.CorrectAnswer();
    const auto &q = question.inputs[0].values.data, &k = question.inputs[1].values.data;
    for (size_t i = 0; i < H * S * T; ++i) {
      const size_t t = i % T, h = i / T / S;
      double sum = 0;
      for (size_t d = 0; d < D; ++d)
        sum +=
            count(d) * q[i / T * D + d] * k[(key_head(h) * T + t) * D + (reversed ? D - 1 - d : d)];
      if (masked && t > i / T % S + T - S) sum = -INFINITY;
      answer[0].values.data[i] = RoundTo(question.c.dtype(), sum * scale);
    }
    return question.Causes(answer);
  }
};

TEST(MeasuredScores, NamesTheKeyHeads) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedScores{.key_head = [](size_t h) { return h / 4; }}.Causes(dtype),
                Contains("heads_read (query heads 0 to 5 read the key heads 0 0 0 0 1 1, expected "
                         "0 0 0 1 1 1)"));
  }
}

TEST(MeasuredScores, NamesChannelsThatAreNotAdded) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedScores{.count = [](size_t d) { return d < 12; }}.Causes(dtype),
                Contains(StartsWith("channels_missing (the products of channels D 12 to 15 are "
                                    "missing")));
    EXPECT_THAT(PlantedScores{.count = [](size_t d) { return d == 5 ? 2 : 1; }}.Causes(dtype),
                Contains(StartsWith("channels_repeated (those of channels D 5 count 2 times")));
  }
}

TEST(MeasuredScores, NamesTheScaleBesideTheHeads) {
  EXPECT_THAT(
      (PlantedScores{.scale = 0.31, .key_head = [](size_t h) { return h / 4; }}).Causes("f32"),
      Contains(testing::AllOf(HasSubstr("0 0 0 0 1 1"), HasSubstr("multiplied by 0.31"))));
}

TEST(MeasuredScores, NamesAnotherDeviationBesideTheHeads) {
  for (const char* dtype : {"f32", "bf16"}) {
    PlantedScores planted{.key_head = [](size_t h) { return h / 2 * 2 / 3; }};
    planted.reversed = true;
    EXPECT_THAT(
        planted.Causes(dtype),
        Contains(testing::AllOf(HasSubstr("has its channels in another order, along D: reversed"),
                                HasSubstr("read the key heads 0 0 0 0 1 1"))));
    planted.reversed = false;
    planted.masked = true;
    EXPECT_THAT(planted.Causes(dtype),
                Contains(testing::AllOf(HasSubstr("causal mask: those of keys t > s + 2"),
                                        HasSubstr("read the key heads 0 0 0 0 1 1"))));
    planted.masked = false;
    planted.count = [](size_t d) { return d % 2 == 0; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains(testing::AllOf(HasSubstr("channels D 1 to 15 in steps of 2 are missing"),
                                        HasSubstr("read the key heads 0 0 0 0 1 1"))));
  }
}

TEST(MeasuredScores, SaysNothingOfRightOrUnknownScores) {
  EXPECT_THAT(PlantedScores{}.Causes("f32"), IsEmpty());
  EXPECT_THAT((PlantedScores{.count = [](size_t d) { return std::sin(1 + d); }}).Causes("f32"),
              IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
