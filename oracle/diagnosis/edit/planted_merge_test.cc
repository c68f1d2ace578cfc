#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

using OfBoth = std::function<double(double lse1, double lse2)>;
using testing::UnorderedElementsAre;

// y = (a y1 + b y2) / divisor in doubles, and another lse.
struct PlantedMerge {
  OfBoth a = [](double one, double) { return std::exp(one); };
  OfBoth b = [](double, double other) { return std::exp(other); };
  OfBoth lse = [](double one, double other) { return std::log(std::exp(one) + std::exp(other)); };
  OfBoth divisor = nullptr;  // null: a + b

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("attention_merge N=12 E=16 dtype=" + dtype);
    const auto input = [&](const char* name) -> const std::vector<double>& {
      return InputNamed(question.inputs, name).data;
    };
    Tensors answer = question.CorrectAnswer();
    Tensor<double>&y = InputNamed(answer, "y"), &of_both = InputNamed(answer, "lse");
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double first = input("lse1")[i / 16], second = input("lse2")[i / 16];
      const double of_first = a(first, second), of_second = b(first, second);
      const double by = divisor ? divisor(first, second) : of_first + of_second;
      y.data[i] = RoundTo(question.c.dtype(),
                          (of_first * input("y1")[i] + of_second * input("y2")[i]) / by);
      of_both.data[i / 16] = static_cast<float>(lse(first, second));
    }
    return question.Causes(answer);
  }
};

TEST(PlantedMergeTest, SaysNothingOfARightAnswer) {
  EXPECT_THAT(PlantedMerge().Causes("f32"), IsEmpty());
}

TEST(PlantedMergeTest, NamesWeightsAlone) {
  PlantedMerge planted;
  std::swap(planted.a, planted.b);
  for (const char* dtype : {"f32", "bf16"})
    EXPECT_THAT(planted.Causes(dtype),
                Contains(HasSubstr("each part has the weight of the other")));
  planted.a = planted.b = [](double, double) { return 1; };
  for (const char* dtype : {"f32", "bf16"})
    EXPECT_THAT(planted.Causes(dtype), Contains(HasSubstr("both parts have the same weight")));
  PlantedMerge base_2;
  base_2.a = [](double one, double) { return std::exp2(one); };
  base_2.b = [](double, double other) { return std::exp2(other); };
  EXPECT_THAT(base_2.Causes("f32"),
              ElementsAre(HasSubstr("2^x is computed instead of e^x, for y alone")));
}

TEST(PlantedMergeTest, NamesTheLseAlone) {
  PlantedMerge planted;
  planted.lse = [](double one, double other) { return std::max(one, other); };
  EXPECT_THAT(planted.Causes("f32"),
              ElementsAre(HasSubstr("the logarithm of the sum is not added to the larger lse")));
  planted.lse = [](double one, double other) { return (one + other) / 2; };
  EXPECT_THAT(planted.Causes("f32"),
              ElementsAre(HasSubstr("the mean of lse1 and lse2 is used instead of lse")));
  planted.lse = [right = PlantedMerge().lse](double one, double other) {
    return right(one, other) / std::log(2);
  };
  EXPECT_THAT(planted.Causes("f32"),
              ElementsAre(HasSubstr("lse is multiplied by 1.442695 = log2(e)")));
}

TEST(PlantedMergeTest, NamesWeightsAndTheirLse) {
  // The weight of the first part is not rescaled.
  PlantedMerge planted;
  planted.a = [](double one, double other) { return std::exp(std::max(one, other)); };
  planted.lse = [a = planted.a, b = planted.b](double one, double other) {
    return std::log(a(one, other) + b(one, other));
  };
  for (const char* dtype : {"f32", "bf16"})
    EXPECT_THAT(planted.Causes(dtype),
                ElementsAre(HasSubstr("the exponent of the weight is 0 in the first part")));
}

TEST(PlantedMergeTest, NamesTwoDeviations) {
  PlantedMerge planted;  // not divided, and lse is another number
  planted.divisor = [](double one, double other) { return std::exp(std::max(one, other)); };
  planted.lse = [](double one, double) { return one; };
  for (const char* dtype : {"f32", "bf16"})
    EXPECT_THAT(planted.Causes(dtype),
                UnorderedElementsAre(HasSubstr("lse is lse1, unchanged"),
                                     HasSubstr("not divided by the sum of the weights")));
}

TEST(PlantedMergeTest, SaysNothingOfUnknownWeights) {
  PlantedMerge planted;
  planted.a = [](double one, double) { return 2 + std::sin(one); };
  planted.lse = [](double one, double other) { return std::max(one, other); };
  EXPECT_THAT(planted.Causes("f32"), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
