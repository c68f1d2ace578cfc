#include "oracle/attention/measured/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

using OfBoth = std::function<double(double lse1, double lse2)>;

// y = (a y1 + b y2) / (a + b) in doubles, with these weights and this lse.
std::vector<std::string> CausesOfMerge(const std::string& dtype, const OfBoth& a, const OfBoth& b,
                                       const OfBoth& lse) {
  const AskedCase question("attention_merge N=12 E=16 dtype=" + dtype);
  const auto input = [&](const char* name) -> const std::vector<double>& {
    return InputNamed(question.inputs, name).data;
  };
  Tensors answer = question.CorrectAnswer();
  Tensor<double>&y = InputNamed(answer, "y"), &of_both = InputNamed(answer, "lse");
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double first = input("lse1")[i / 16], second = input("lse2")[i / 16];
    const double of_first = a(first, second), of_second = b(first, second);
    y.data[i] =
        RoundTo(question.c.dtype(),
                (of_first * input("y1")[i] + of_second * input("y2")[i]) / (of_first + of_second));
    of_both.data[i / 16] = static_cast<float>(lse(first, second));
  }
  return question.Causes(answer);
}

double First(double a, double) { return std::exp(a); }
double Second(double, double b) { return std::exp(b); }
double RightLse(double a, double b) { return std::log(std::exp(a) + std::exp(b)); }
double Larger(double a, double b) { return std::max(a, b); }

TEST(MeasuredMerge, SaysNothingOfARightAnswer) {
  EXPECT_THAT(CausesOfMerge("f32", First, Second, RightLse), IsEmpty());
}

TEST(MeasuredMerge, NamesTheWeightsBesideTheLse) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesOfMerge(dtype, Second, First, Larger),
                ElementsAre(AllOf(HasSubstr("lse is the larger of lse1 and lse2"),
                                  HasSubstr("the weights are exchanged"),
                                  Not(HasSubstr("that of their sum")))));
    EXPECT_THAT(
        CausesOfMerge(
            dtype, [](double a, double) { return std::abs(a); },
            [](double, double b) { return std::abs(b); }, [](double a, double) { return a; }),
        ElementsAre(AllOf(HasSubstr("lse is lse1"), HasSubstr("the weights are |lse1| and |lse2|"),
                          Not(HasSubstr("that of their sum")))));
  }
}

TEST(MeasuredMerge, NamesTheLseOfOtherWeights) {
  // The weight of the first part is not rescaled.
  const auto of_first = [](double a, double b) { return std::exp(std::max(a, b)); };
  const auto lse = [&](double a, double b) { return std::log(of_first(a, b) + std::exp(b)); };
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesOfMerge(dtype, of_first, Second, lse),
                ElementsAre(AllOf(HasSubstr("the weight of the first part is e^0"),
                                  HasSubstr("and lse is that of their sum"))));
  }
  const auto power = [](double x) { return std::exp2(x); };
  EXPECT_THAT(CausesOfMerge(
                  "f32", [&](double a, double b) { return power(a - std::max(a, b)); },
                  [&](double a, double b) { return power(b - std::max(a, b)); }, RightLse),
              Contains(HasSubstr("the weights have the base 2, expected e")));
}

TEST(MeasuredMerge, SaysNothingOfUnknownWeights) {
  EXPECT_THAT(CausesOfMerge(
                  "f32", [](double a, double) { return 2 + std::sin(a); }, Second, Larger),
              IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
