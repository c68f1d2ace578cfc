#include "oracle/diagnosis/answer/wrong_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

// What is said if change(x, y) is answered instead of y, of a right swish.
std::string SaidOf(const std::function<double(double x, double y)>& change,
                   const std::string& line = "activation kind=swish N=8 F=64 dtype=f32 seed=1") {
  const DrawnCase drawn(line);
  Tensors answer = drawn.CorrectAnswer();
  std::vector<double>& y = answer[0].values.data;
  const std::vector<double>& x = drawn.inputs[0].values.data;
  for (size_t i = 0; i < y.size(); ++i) y[i] = change(x[i % x.size()], y[i]);
  const Judge judge(drawn.c, drawn.inputs, drawn.recipe);
  const Observation seen{drawn.c,        drawn.inputs,      drawn.recipe,
                         judge.golden(), judge.permitted(), answer};
  const auto found = FindWrongRange(*AnsweredTensorOf(seen, 0), drawn.inputs);
  if (!found) return "";
  EXPECT_EQ(found->name, "wrong_in_range");
  return found->sentence;
}

TEST(WrongRange, IsSaidWithWhatTheNumbersAre) {
  const auto in_range = [](double x) { return x > 0.5 && x < 1.5; };
  EXPECT_THAT(SaidOf([=](double x, double y) { return in_range(x) ? 1.25 * y : y; }),
              AllOf(StartsWith("y is wrong only where x is from 0.5"), HasSubstr(" to 1.4"),
                    testing::EndsWith(": it is 1.25 times the right number there")));
  EXPECT_THAT(SaidOf([](double x, double y) { return x > 1 ? x : y; }),
              AllOf(StartsWith("y is wrong only where x is at least 1.0"),
                    testing::EndsWith(": it is x there")));
  EXPECT_THAT(SaidOf([](double x, double y) { return x < -1 ? 0 : y; }),
              AllOf(StartsWith("y is wrong only where x is at most -1.0"),
                    testing::EndsWith(": it is 0 there")));
  EXPECT_THAT(SaidOf([=](double x, double y) { return in_range(x) ? y + x * x : y; }),
              Not(HasSubstr("there")));
}

TEST(WrongRange, MayBeWhereTheAnswerIsRight) {
  EXPECT_THAT(SaidOf([](double x, double y) { return std::abs(x) > 1 ? y / 2 : y; }),
              StartsWith("y is right only where x is from -0.9"));
}

TEST(WrongRange, AFewElementsWithASmallEffectMayBeRight) {
  EXPECT_NE(SaidOf([](double x, double y) { return x > 1 && x < 1.1 ? y + 1e-9
                                                   : x > 1          ? x
                                                                    : y; }),
            "");
}

TEST(WrongRange, NothingIsSaidOfOtherReasons) {
  size_t at = 0;
  EXPECT_EQ(SaidOf([&](double, double y) { return at++ % 3 == 0 ? 2 * y : y; }), "");
  EXPECT_EQ(SaidOf([](double, double y) { return 2 * y; }), "") << "everywhere";
  size_t count = 0;
  EXPECT_EQ(SaidOf([&](double x, double y) { return x > 1 && count++ < 8 ? 2 * y : y; }), "")
      << "most of the range is right";
  EXPECT_EQ(SaidOf([](double, double y) { return y; }), "") << "right";
}

TEST(WrongRange, TheRightNumberTellsWhereNoInputDoes) {
  EXPECT_THAT(SaidOf([](double, double y) { return std::min(y, 1.0); },
                     "linear N=8 M=4 F=64 dtype=f32 seed=1"),
              AllOf(StartsWith("y is wrong only where the right number is at least 1.0"),
                    testing::EndsWith(": it is 1 there")));
}

}  // namespace
}  // namespace sextant::oracle
