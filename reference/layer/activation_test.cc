#include "reference/layer/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/case/operations.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Line(const std::string& kind, const std::string& x) {
  return "activation N=1 kind=" + kind + " dtype=f64 @x=" + x;
}

// s(0) = 1/2, s(ln 3) = 3/4.
TEST(Activation, SigmoidIsAHalfAtZero) {
  EXPECT_THAT(DoublesOf(Line("sigmoid F=1", "0")), ElementsAre(0.5));
  EXPECT_THAT(DoublesOf(Line("sigmoid F=2", "1.0986122886681098,-1.0986122886681098")),
              ElementsAre(DoubleEq(0.75), DoubleEq(0.25)));
}

TEST(Activation, SwishMultipliesByBetaInsideTheSigmoid) {
  const double at_2 = 1 / (1 + std::exp(-2));
  EXPECT_THAT(DoublesOf(Line("swish F=2", "2,-2")),
              ElementsAre(DoubleEq(2 * at_2), DoubleEq(-2 / (1 + std::exp(2)))));
  EXPECT_THAT(DoublesOf(Line("swish beta=2 F=1", "1")), ElementsAre(DoubleEq(at_2)));
  EXPECT_THAT(DoublesOf(Line("swish beta=0 F=2", "3,-5")), ElementsAre(1.5, -2.5));
}

// Expected values from erf and tanh of the C library: the table of the paper has too few digits.
TEST(Activation, GeluAndItsTanhApproximationDiffer) {
  EXPECT_THAT(DoublesOf(Line("gelu F=1", "1")),
              ElementsAre(DoubleEq((1 + std::erf(std::sqrt(0.5))) / 2)));
  const double t = std::sqrt(2 / M_PI) * 1.044715;
  EXPECT_THAT(DoublesOf(Line("gelu_tanh F=1", "1")), ElementsAre(DoubleEq((1 + std::tanh(t)) / 2)));
  // The largest difference of the two is near x = 2.70.
  const double gap =
      DoublesOf(Line("gelu F=1", "2.7"))[0] - DoublesOf(Line("gelu_tanh F=1", "2.7"))[0];
  EXPECT_NEAR(std::abs(gap), 4.73e-4, 0.005e-4);
}

TEST(Activation, RectifiedAndSquared) {
  EXPECT_THAT(DoublesOf(Line("relu F=3", "-2,0,3")), ElementsAre(0, 0, 3));
  EXPECT_THAT(DoublesOf(Line("relu2 F=3", "-2,0,3")), ElementsAre(0, 0, 9));
  EXPECT_THAT(ProofOf(Line("relu F=3", "-2,0,3")).golden[0].permitted.data, Each(0));
}

TEST(Activation, TailsHaveASmallRelativeError) {
  EXPECT_THAT(DoublesOf(Line("sigmoid F=1", "-700")), ElementsAre(DoubleEq(std::exp(-700))));
  // erfc multiplies the relative rounding error of its argument by 400.
  const double at_minus_20 = -10 * std::erfc(20 * std::sqrt(0.5));
  EXPECT_NEAR(DoublesOf(Line("gelu F=1", "-20"))[0], at_minus_20, 1e-13 * -at_minus_20);
  EXPECT_THAT(DoublesOf(Line("tanh F=1", "1e-200")), ElementsAre(1e-200));
}

// The error of 1 + erf is an ulp of 1, times x / 2; the error of erfc is relative to its value.
TEST(Activation, FormsOfGeluPermitDifferentErrors) {
  const std::string line = "activation kind=gelu N=1 F=1 dtype=f32 @x=-5";
  const double value = std::abs(DoublesOf(line)[0]);
  const double by_erf = ProofOf(line, "*=T activation=T:erf").golden[0].permitted.data[0];
  const double by_erfc = ProofOf(line, "*=T activation=T:erfc").golden[0].permitted.data[0];
  EXPECT_EQ(ProofOf(line).golden[0].permitted.data[0], by_erf);
  EXPECT_GT(by_erf, 0x1p-24);
  EXPECT_LT(by_erf, 0x1p-21);
  EXPECT_LT(by_erfc, 200 * 0x1p-24 * value);
}

// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: absolute error 1.5e-7.
float ErfBy7126(float x) {
  const float t = 1 / (1 + 0.3275911f * std::abs(x));
  const float sum =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t;
  return std::copysign(1 - sum * std::exp(-x * x), x);
}

// An absolute error of erf is many ulps of erf(x) near x = 0.
TEST(Activation, ErfAbsolutePermitsAnAbsoluteErrorOfErf) {
  const std::string line = "activation kind=gelu N=1 F=2000 dtype=f32 @x=uniform(-6,6)";
  const Tensors inputs = DrawInputs(Case::Parse(line));
  const auto violations = [&](const std::string& recipe) {
    const GoldenTensor golden = ProofOf(line, recipe).golden[0];
    int count = 0;
    for (size_t i = 0; i < 2000; ++i) {
      const auto x = static_cast<float>(inputs[0].values.data[i]);
      const float y = 0.5f * x * (1 + ErfBy7126(x * 0.70710678f));
      count += std::abs(y - golden.high.data[i]) > golden.permitted.data[i];
    }
    return count;
  };
  EXPECT_EQ(violations("*=f32 activation=f32:erf_absolute/4"), 0);
  EXPECT_GT(violations("*=f32 activation=f32:erf/4"), 0);
  const double at_zero =
      ProofOf("activation kind=gelu N=1 F=1 dtype=f32 @x=0", "*=f32 activation=f32:erf_absolute/4")
          .golden[0]
          .permitted.data[0];
  EXPECT_EQ(at_zero, 0);  // x = 0 makes the product 0 for every erf(0)
}

// beta = 1.702 is not an f32 number, 1.75 is.
TEST(Activation, PermitsTheRoundingOfBeta) {
  const auto permitted = [](const std::string& beta) {
    return ProofOf("activation kind=swish N=1 F=1 dtype=f32 @x=1 beta=" + beta)
        .golden[0]
        .permitted.data[0];
  };
  EXPECT_GT(permitted("1.702"), permitted("1.75"));
}

TEST(Activation, BetaBelongsToSwish) {
  EXPECT_THAT([] { Case::Parse("activation kind=gelu beta=2 N=1 F=1"); },
              testing::ThrowsMessage<Error>(HasSubstr("beta is 2, but kind=gelu has none")));
}

}  // namespace
}  // namespace sextant
