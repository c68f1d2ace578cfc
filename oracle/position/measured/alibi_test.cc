#include "oracle/position/measured/alibi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

constexpr size_t kHeads = 8, kQueries = 12, kKeys = 40;
constexpr const char* kAlibiDTypes[] = {" dtype=f32", " dtype=bf16"};

// bias[h,s,t] = -slope[head(h)] distance(s + 28 - t)
struct PlantedBias {
  double (*distance)(double d) = [](double d) { return d; };
  size_t (*head)(size_t h) = [](size_t h) { return h; };

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("alibi H=8 S=12 T=40 @query_position=sequence(28)" + dtype);
    Tensor<double> bias({kHeads, kQueries, kKeys});
    for (size_t i = 0; i < bias.data.size(); ++i) {
      const auto s = static_cast<double>(i / kKeys % kQueries), t = static_cast<double>(i % kKeys);
      const double slope = question.inputs[0].values.data[head(i / kKeys / kQueries)];
      bias.data[i] = RoundTo(question.c.dtype(), -slope * distance(s + 28 - t));
    }
    return question.Causes({{"bias", question.c.dtype(), bias}});
  }
  void ExpectNamed(const std::string& cause) const {
    for (const char* dtype : kAlibiDTypes) EXPECT_THAT(Causes(dtype), Contains(cause)) << dtype;
  }
};

TEST(MeasuredAlibi, NamesDistances) {
  PlantedBias{.distance = [](double d) { return std::clamp(d, -9.0, 9.0); }}.ExpectNamed(
      "distance_clamped (distances beyond 9 act as 9)");
  PlantedBias{.distance = [](double d) { return std::min(d, 9.0); }}.ExpectNamed(
      "distance_clamped (distances above 9 act as 9)");
  PlantedBias{.distance = [](double d) { return d - 13 * std::floor(d / 13); }}.ExpectNamed(
      "distance_wrapped (distances are taken modulo 13)");
  PlantedBias{.distance = [](double d) { return 5 * std::floor(d / 5); }}.ExpectNamed(
      "distance_rounded (distances are rounded down to multiples of 5)");
  PlantedBias{.distance = [](double d) { return std::copysign(std::sqrt(std::abs(d)), d); }}
      .ExpectNamed(
          "distance_power (another function of the distance: it is raised to the power 0.5)");
}

TEST(MeasuredAlibi, NamesSlopesOfOtherHeads) {
  PlantedBias{.head = [](size_t h) { return (h + 3) % 8; }}.ExpectNamed(
      "slopes_of_other_heads (the slopes of the heads are in another order: rolled by 3 to the "
      "left)");
}

// Slopes, distances and a factor are measured separately.
TEST(MeasuredAlibi, NamesSeveralFactorsTogether) {
  PlantedBias{.distance = [](double d) { return 0.5 * std::clamp(d + 3, -9.0, 9.0); },
              .head = [](size_t h) { return 7 - h; }}
      .ExpectNamed(
          "slopes_of_other_heads+distance_shifted+distance_clamped+bias_multiplied (the slopes of "
          "the heads are in another order: reversed; positions are off by 3: every distance has 3 "
          "added, as if queries were 3 later; distances above 9 act as 9; every slope, and so "
          "every "
          "bias, is multiplied by 0.5)");
  PlantedBias{.distance = [](double d) { return d * std::abs(d); },
              .head = [](size_t h) { return h / 2 * 2; }}
      .ExpectNamed(
          "slopes_of_other_heads+distance_power (the slopes of the heads are in another order: "
          "each even one twice; another function of the distance: it is raised to the power 2)");
}

TEST(MeasuredAlibi, SaysNothingAboutARightAnswer) {
  for (const char* dtype : kAlibiDTypes)
    EXPECT_THAT(PlantedBias{}.Causes(dtype), IsEmpty()) << dtype;
}

std::vector<std::string> CausesOfSlopes(double base, double factor) {
  const AskedCase question("alibi_slopes H=16 dtype=f32");
  Tensor<double> slope({16});
  for (size_t h = 0; h < 16; ++h) {
    const double power = std::pow(base, -static_cast<double>(h + 1) / 2);
    slope.data[h] = RoundTo(DType::kF32, factor * power);
  }
  return question.Causes({{"slope", DType::kF32, slope}});
}

TEST(MeasuredAlibi, NamesTheBaseAndAFactorOfSlopes) {
  EXPECT_THAT(CausesOfSlopes(3, 1),
              Contains(HasSubstr("base_changed (slopes are powers of the base 3, expected 2")));
  EXPECT_THAT(CausesOfSlopes(2, 0.9),
              Contains(HasSubstr("slopes_multiplied (every slope is multiplied by 0.9")));
  EXPECT_THAT(CausesOfSlopes(2, 1), IsEmpty());
}

// 2^-e(h) for twelve heads: eight in one sequence, and every second one of sixteen.
std::vector<std::string> CausesOfExponents(const std::function<double(double e, size_t h)>& other) {
  const AskedCase question("alibi_slopes H=12 dtype=f32");
  Tensors answer = question.CorrectAnswer();
  for (size_t h = 0; h < 12; ++h) {
    const double e = h < 8 ? static_cast<double>(h + 1) : static_cast<double>(h - 8) + 0.5;
    answer[0].values.data[h] = RoundTo(answer[0].dtype, std::exp2(-other(e, h)));
  }
  return question.Causes(answer);
}

TEST(MeasuredSlopes, NamesOtherExponents) {
  EXPECT_THAT(CausesOfExponents([](double e, size_t) { return e; }), IsEmpty());
  EXPECT_THAT(
      CausesOfExponents([](double e, size_t) { return std::floor(e); }),
      Contains(StartsWith("exponents_changed (head h has the slope 2^-e, where the exponents "
                          "e are rounded down to integers")));
  const double sorted[] = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8};
  EXPECT_THAT(CausesOfExponents([&](double, size_t h) { return sorted[h]; }),
              Contains("exponents_changed (head h has the slope 2^-e, where the exponents e are "
                       "those of all heads, sorted)"));
}

TEST(MeasuredAlibi, NamesAMask) {
  const AskedCase question("alibi H=4 S=6 T=9 @query_position=sequence(3) dtype=f32");
  Tensors answer = question.CorrectAnswer();
  for (size_t i = 0; i < answer[0].values.data.size(); ++i)
    if (i % 9 > i / 9 % 6 + 3) answer[0].values.data[i] = -INFINITY;
  EXPECT_THAT(
      question.Causes(answer),
      Contains("keys_masked (bias is -infinity for all keys after the query: a mask, as for "
               "causal attention)"));
}

}  // namespace
}  // namespace sextant::oracle
