#include "oracle/layer/measured/activation.h"

#include <algorithm>
#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What is said about f(x) instead of the function of the case.
std::vector<std::string> CausesOf(const std::string& line, double (*f)(double)) {
  const MeasuredCase question(line);
  return question.Causes([&](size_t i) { return f(question.inputs[0].values.data[i]); });
}

struct MeasuredActivation : MeasuredInDType {
  std::vector<std::string> If(const std::string& words, double (*f)(double)) {
    return CausesOf(Line("activation " + words), f);
  }
};

TEST_P(MeasuredActivation, ConstantOfSwish) {
  EXPECT_THAT(
      If("kind=swish N=4 F=50", [](double x) { return x * Sigmoid(1.4 * x); }),
      ElementsAre(AllOf(StartsWith("swish_constant: "), HasSubstr("with c = 1.4, expected 1"))));
}

TEST_P(MeasuredActivation, ConstantAndAddedNumber) {
  EXPECT_THAT(If("kind=swish N=8 F=50", [](double x) { return x * Sigmoid(1.4 * x) + 0.25; }),
              ElementsAre(AllOf(StartsWith("swish_constant+output_offset: "), HasSubstr("c = 1.4"),
                                HasSubstr("0.25 is added to y"))));
}

TEST_P(MeasuredActivation, NegatedArgumentAndFactor) {
  EXPECT_THAT(If("kind=swish N=8 F=50", [](double x) { return -2 * x * Sigmoid(-x); }),
              ElementsAre(StartsWith("argument_negated+value_multiplied: ")));
}

TEST_P(MeasuredActivation, AnotherFunction) {
  EXPECT_THAT(
      If("kind=swish N=4 F=50", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }),
      ElementsAre(StartsWith("function_is_mish: the function is mish")));
}

TEST_P(MeasuredActivation, SlopeBelowZero) {
  EXPECT_THAT(If("kind=relu N=4 F=50", [](double x) { return x > 0 ? x : 0.03 * x; }),
              ElementsAre(StartsWith("relu_constant: the function is max(x, 0) + c min(x, 0) with "
                                     "c = 0.03, expected 0")));
}

TEST_P(MeasuredActivation, LimitOfTheArgument) {
  EXPECT_THAT(If("kind=swish N=8 F=50",
                 [](double x) { return std::min(x, 5.5) * Sigmoid(std::min(x, 5.5)); }),
              ElementsAre(StartsWith("limited_above: the argument is limited to 5.5")));
}

TEST_P(MeasuredActivation, LimitsOnBothSides) {
  EXPECT_THAT(If("kind=swish N=8 F=48",
                 [](double x) {
                   x = std::clamp(x, -5.0, 5.0);
                   return x * Sigmoid(x);
                 }),
              ElementsAre(AllOf(StartsWith("limited_above+limited_below: "),
                                HasSubstr("limited to 5"), HasSubstr("limited to -5"))));
}

// Two deviations at once.
TEST_P(MeasuredActivation, AnotherFunctionWithALimit) {
  EXPECT_THAT(If("kind=swish N=8 F=50",
                 [](double x) {
                   x = std::min(x, 4.5);
                   return x * (1 + std::erf(x / std::sqrt(2))) / 2;
                 }),
              ElementsAre(AllOf(StartsWith("function_is_gelu+limited_above: "),
                                HasSubstr("limited to 4.5"))));
}

TEST_P(MeasuredActivation, FactorOfTheValue) {
  EXPECT_THAT(If("kind=tanh N=4 F=50", [](double x) { return 3 * std::tanh(x); }),
              ElementsAre(StartsWith("value_multiplied: the value of the function is multiplied "
                                     "by 3")));
}

// 256 entries from -8 to 8, the nearest one.
TEST_P(MeasuredActivation, Table) {
  EXPECT_THAT(If("kind=swish N=4 F=50 @x=uniform(-8,8)",
                 [](double x) {
                   const double step = 16.0 / 255;
                   const double node = -8 + step * std::floor((x + 8) / step + 0.5);
                   return node * Sigmoid(node);
                 }),
              Contains(StartsWith("table: the function is read from a table with entries at -8 + "
                                  "i * 0.0627")));
}

TEST_P(MeasuredActivation, InterpolatedTable) {
  EXPECT_THAT(If("kind=gelu N=4 F=50",
                 [](double x) {
                   const auto gelu = [](double t) { return t * (1 + std::erf(t / M_SQRT2)) / 2; };
                   const double below = std::floor(x * 4) / 4;
                   return gelu(below) + (x - below) * 4 * (gelu(below + 0.25) - gelu(below));
                 }),
              Contains(StartsWith("table_interpolated: the function is read from a table with "
                                  "entries at 0 + i * 0.25")));
}

TEST_P(MeasuredActivation, NegatedArgument) {
  EXPECT_THAT(If("kind=swish N=4 F=50",
                 [](double x) { return -x * (1 + std::erf(-x / std::sqrt(2))) / 2; }),
              Contains(StartsWith("function_is_gelu+argument_negated: ")));
}

TEST_P(MeasuredActivation, ConstantAndFactor) {
  EXPECT_THAT(If("kind=swish N=4 F=50", [](double x) { return 2 * x * Sigmoid(1.4 * x); }),
              ElementsAre(AllOf(StartsWith("swish_constant+value_multiplied: "),
                                HasSubstr("c = 1.4"), HasSubstr("multiplied by 2"))));
}

TEST_P(MeasuredActivation, OffsetOfTheValue) {
  EXPECT_THAT(If("kind=swish N=4 F=50", [](double x) { return x * Sigmoid(x) + 0.3; }),
              ElementsAre(StartsWith("value_offset: 0.3")));
}

TEST_P(MeasuredActivation, NumberAddedToTheArgumentOfTheGate) {
  EXPECT_THAT(If("kind=swish N=4 F=50", [](double x) { return x * Sigmoid(x + 0.5); }),
              Contains("gate_argument_offset: x is multiplied by the factor of x + 0.5 instead of "
                       "x"));
}

TEST_P(MeasuredActivation, LimitsOfTheValue) {
  EXPECT_THAT(If("kind=swish N=4 F=50", [](double x) { return std::max(x * Sigmoid(x), -0.1); }),
              ElementsAre("value_limited: the value of the function is limited to at least -0.1"));
  EXPECT_THAT(
      If("kind=swish N=4 F=50", [](double x) { return x * std::clamp(Sigmoid(x), 0.1, 0.9); }),
      ElementsAre("gate_limited: the factor of x in the function is limited to at least "
                  "0.1 and at most 0.9"));
}

TEST_P(MeasuredActivation, OneSideWithoutTheFunction) {
  EXPECT_THAT(If("kind=swish N=4 F=50 @x=uniform(-8,8)",
                 [](double x) { return x < -4  ? 0
                                       : x > 4 ? x
                                               : x * Sigmoid(x); }),
              ElementsAre(StartsWith("saturated: the function is 0 where x < -")));
  EXPECT_THAT(If("kind=gelu N=4 F=50",
                 [](double x) { return x < -1 ? 0 : x * (1 + std::erf(x / std::sqrt(2))) / 2; }),
              ElementsAre(StartsWith("zero_below: the function is 0 where x < -")));
}

TEST_P(MeasuredActivation, ValueTimesTheArgument) {
  EXPECT_THAT(If("kind=swish N=4 F=50", [](double x) { return x * x * Sigmoid(x); }),
              ElementsAre("value_times_x: the value of the function is multiplied by x"));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredActivation, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);

// A constant that is no known number is given with its error.
TEST(MeasuredActivation, AlteredAndUnknownFunctions) {
  const MeasuredCase question("activation kind=gelu_tanh N=10 F=20 @x=normal(2) dtype=f32");
  const auto& x = question.In("x").data;
  const auto causes_if = [&](double (*f)(double x)) {
    return question.Causes([&](size_t i) { return f(x[i]); });
  };
  constexpr double kRoot = 0.79788456080286536;
  EXPECT_THAT(causes_if([](double v) {
                return v / 2 * (1 + std::tanh(0.044715 * (v + kRoot * v * v * v)));
              }),
              Contains(StartsWith("function_is_gelu_tanh_with_exchanged_constants: ")));
  EXPECT_THAT(causes_if([](double v) {
                const double t = kRoot * (v + 0.044715 * v * v * v);
                return v / 2 * (1 + t * (27 + t * t) / (27 + 9 * t * t));
              }),
              Contains(StartsWith("function_is_gelu_with_rational_tanh: ")));
  EXPECT_THAT(causes_if([](double v) {
                const double u = std::abs(v);
                return v / 2 * (1 + std::tanh(kRoot * (u + 0.044715 * u * u * u)));
              }),
              Contains("odd: the function is taken at |x|, and has the sign of x"));
  EXPECT_THAT(causes_if([](double v) { return std::sin(v); }),
              ElementsAre(AllOf(StartsWith("unknown_function: y is a function of x, but none of "
                                           "the known ones: at "),
                                HasSubstr(", expected "))));
}

TEST(MeasuredActivation, UnusualConstant) {
  EXPECT_THAT(CausesOf("activation kind=swish N=4 F=50 dtype=f32",
                       [](double x) { return x * Sigmoid(1.23456789 * x); }),
              ElementsAre(HasSubstr("with c = 1.234568 (+- 3e-06), expected 1")));
}

// Rounded near 1/2, before 1/2 is added; in f64 the sigmoid of -x is 1 minus that of x.
TEST(MeasuredActivation, SigmoidAsASum) {
  EXPECT_THAT(CausesOf("activation kind=swish N=4 F=50 dtype=f32",
                       [](double x) { return x * (0.5 + static_cast<float>(Sigmoid(x) - 0.5)); }),
              ElementsAre(AllOf(StartsWith("sigmoid_absolute: "), HasSubstr(" ulps of 1 in f32"))));
  EXPECT_THAT(CausesOf("activation kind=sigmoid N=4 F=50 dtype=f64",
                       [](double x) { return x < 0 ? 1 - Sigmoid(-x) : Sigmoid(x); }),
              ElementsAre(AllOf(StartsWith("sigmoid_absolute: "), HasSubstr(" ulps of 1 in f64"))));
}

// A constant in 16 bits.
TEST(MeasuredActivation, RoundedConstants) {
  EXPECT_THAT(CausesOf("activation kind=gelu N=4 F=50 dtype=f32",
                       [](double x) { return x * (1 + std::erf(0.70703125 * x)) / 2; }),
              ElementsAre(HasSubstr("c = 0.70703125 = 1/sqrt(2) in f16 or bf16")));
}

TEST(MeasuredActivation, HonestRecipesAreNotAccused) {
  for (const std::string kind : {"swish", "gelu", "gelu_tanh", "sigmoid", "tanh", "relu2"}) {
    ExpectNoAccusation({"activation N=1 F=5 kind=" + kind, "activation N=4 F=50 kind=" + kind},
                       {"native activation=bf16", "native activation=f16",
                        "native activation=bf16 store=bf16", "f32_compute"});
  }
}

TEST(MeasuredActivation, OtherBugsAreNotExplained) {
  ExpectNoSentenceAboutZeros("activation kind=swish N=4 F=50 dtype=f32");
}

}  // namespace
}  // namespace sextant::oracle
