#include "oracle/diagnosis/answer/scattered_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/diagnosis/answer/element_pattern.h"
#include "oracle/diagnosis/answer/planted_tensor_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

// y[16,40]: a row ends between two multiples of 16.
struct PlantedScatter : DrawnCase {
  explicit PlantedScatter(const std::string& dtype)
      : DrawnCase("linear N=16 F=40 M=16 dtype=" + dtype) {}

  // wrong(i, y) is element i of the answer; y: the right numbers.
  std::string Sentence(
      const std::function<double(size_t i, const std::vector<double>& y)>& wrong) const {
    Tensors answer = CorrectAnswer();
    const std::vector<double> y = answer[0].values.data;
    for (size_t i = 0; i < y.size(); ++i)
      answer[0].values.data[i] = RoundTo(answer[0].dtype, wrong(i, y));
    const Judge judge(c, inputs, recipe);
    const auto tensor =
        AnsweredTensorOf({c, inputs, recipe, judge.golden(), judge.permitted(), answer}, 0);
    return FindScattered(*tensor, inputs).value_or("");
  }
};

class Scattered : public testing::TestWithParam<const char*> {
 protected:
  const PlantedScatter planted{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Formats, Scattered, testing::Values("f32", "bf16"),
                         [](const auto& info) { return info.param; });

TEST_P(Scattered, FindsTheStepOfNaNs) {
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i % 48 == 47 ? kNaN : y[i]; }),
            "y is nan at every 48th element from 47 on");
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i == 77 ? kNaN : y[i]; }),
            "y is nan at element 77 = [1,37] alone");
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) {
    return i == 16 || i == 64 || i == 80 || i == 144 ? kNaN : y[i];
  }),
            "y is nan at 4 elements: [0,16], [1,24], [2,0] ... (all at multiples of 16)");
}

TEST_P(Scattered, FindsBlocksThatWereNeverWritten) {
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i % 64 >= 60 ? 0 : y[i]; }),
            "y is 0 at elements 60 to 63 of every 64");
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i >= 640 - 50 ? 0 : y[i]; }),
            "y is 0 at the last 50 elements");
}

TEST_P(Scattered, FindsNumbersOfOtherElements) {
  EXPECT_EQ(
      planted.Sentence([](size_t i, auto y) { return i % 16 == 0 && i > 0 ? y[i - 1] : y[i]; }),
      "y has the right number of the element 1 before at every 16th element from 16 on");
  EXPECT_THAT(planted.Sentence([](size_t i, auto y) {
    return i % 16 == 0 ? y[(i + y.size() - 1) % y.size()] : y[i];
  }),
              StartsWith("y has the right number of the element 1 before at every 16th element"));
  EXPECT_THAT(planted.Sentence(
                  [](size_t i, auto y) { return i % 100 == 7 || i % 100 == 5 ? y[i ^ 2] : y[i]; }),
              StartsWith("y has exchanged elements 2 apart at 14 elements"));
}

TEST_P(Scattered, FindsFactors) {
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i % 40 >= 32 ? 2 * y[i] : y[i]; }),
            "y is 2 times the right number at F 32 to 39");
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i % 11 == 5 ? 2 * y[i] : y[i]; }),
            "y is 2 times the right number at every 11th element from 5 on");
}

TEST_P(Scattered, SaysWhichFewElementsAreWrong) {
  EXPECT_THAT(planted.Sentence([](size_t i, auto y) { return i == 123 ? y[i] + 13 : y[i]; }),
              testing::AllOf(StartsWith("y is wrong only at element 123 = [3,3] alone, by 1"),
                             HasSubstr("while all others conform")));
}

// In bf16 an error as large as a number is few permitted errors.
TEST_P(Scattered, OutliersAreAsLargeAsTheNumbers) {
  EXPECT_NE(planted.Sentence([](size_t i, auto y) { return i == 123 ? y[i] + 3 : y[i]; }), "");
  EXPECT_EQ(planted.Sentence([](size_t i, auto y) { return i == 123 ? y[i] * 1.02 : y[i]; }), "");
}

TEST(AreOutliers, NeedsAGapBelowThem) {
  const auto are_outliers = [](double error, double largest_conforming) {
    PlantedTensor planted{DType::kF32, 1, 300, 2};
    for (size_t i = 0; i < 300; ++i)
      planted.Add(1, 1 + (i == 5 ? error : i == 77 ? largest_conforming : 0));
    return AreOutliers(planted.Answered(1));
  };
  EXPECT_TRUE(are_outliers(5, 0));
  EXPECT_FALSE(are_outliers(3, 0));    // a recipe of four times the errors would permit it
  EXPECT_FALSE(are_outliers(5, 1.5));  // another element is beyond its likely error
  EXPECT_FALSE(are_outliers(INFINITY, 0));
}

// The sign of a number decides, or its size; or all errors are small.
TEST_P(Scattered, SaysNothingIfNumbersDecide) {
  for (const auto& wrong : std::vector<std::function<double(double)>>{
           [](double y) { return std::max(y, 0.0); }, [](double y) { return y < 0 ? y / 2 : y; },
           [](double y) { return std::abs(y) > 3 ? 3 : y; },
           [](double y) { return y * (1 + 0.01 * std::sin(1000 * y)); }})
    EXPECT_EQ(planted.Sentence([&](size_t i, auto y) { return wrong(y[i]); }), "");
}

TEST(ElementPattern, IsRegularIfAPlaceDecides) {
  const PlantedScatter planted("f32");
  const Tensors answer = planted.CorrectAnswer();
  const Judge judge(planted.c, planted.inputs, planted.recipe);
  const auto tensor = *AnsweredTensorOf(
      {planted.c, planted.inputs, planted.recipe, judge.golden(), judge.permitted(), answer}, 0);
  EXPECT_TRUE(PatternOf(tensor, {33, 44, 55, 66}).is_regular);
  EXPECT_EQ(PatternOf(tensor, {33, 44, 55, 66}).text, "every 11th element from 33 on up to 66");
  EXPECT_FALSE(PatternOf(tensor, {33, 44, 56, 66}).is_regular);
  EXPECT_EQ(PatternOf(tensor, {3, 5, 43, 45}).text, "N 0 to 1, F 3, 5");
}

}  // namespace
}  // namespace sextant::oracle
