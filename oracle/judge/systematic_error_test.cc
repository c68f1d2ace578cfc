// Correct answers whose sums have a systematic error are not unlikely; defects of that size are.
#include "oracle/judge/systematic_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/bias_sample.h"
#include "oracle/judge/tensor_judge.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant::oracle {
namespace {

using Kind = SumOrder::Kind;

// A case with its judge, and verdicts with and without the comparison with the recipe's answers.
struct SumQuestion : DrawnCase {
  using DrawnCase::DrawnCase;
  Verdict JudgedWithoutSystematicErrors(const Tensors& answer) const {
    return JudgeEndToEnd(c, judge.golden(), judge.permitted(), answer);
  }
  Verdict Judged(const Tensors& answer) const { return judge.Evaluate(answer); }
  Tensors AnswerIn(SumOrder order) const {
    const ScopedSumOrder in_order(order);
    return CorrectAnswer();
  }

  const Judge judge{c, inputs, recipe, ProveAndPermit({c, inputs, recipe})};
};

// Summation orders of implementations. The judge tries some of them.
constexpr SumOrder kOrders[] = {
    {Kind::kForwards, 1}, {Kind::kBackwards, 1}, {Kind::kLargestFirst, 1}, {Kind::kHalves, 1},
    {Kind::kLanes, 3},    {Kind::kLanes, 16},    {Kind::kLanes, 32},       {Kind::kBlocks, 8},
    {Kind::kBlocks, 16},  {Kind::kBlocks, 100}};

class SlowHonestSums : public testing::TestWithParam<std::string> {};

TEST_P(SlowHonestSums, AreNotUnlikelyInAnyOrder) {
  const SumQuestion question(GetParam());
  size_t unlikely_without = 0;
  for (const SumOrder& order : kOrders) {
    const Tensors answer = question.AnswerIn(order);
    const Verdict verdict = question.Judged(answer);
    EXPECT_EQ(verdict.status, Verdict::Status::kConforms);
    EXPECT_LT(verdict.grade.value(), Grade::kUnlikely)
        << static_cast<int>(order.kind) << " " << order.size << ": mean " << verdict.tensors[0].bias
        << ", correct at most " << verdict.tensors[0].correct_bias_bound;
    unlikely_without += question.JudgedWithoutSystematicErrors(answer).grade == Grade::kUnlikely;
  }
  EXPECT_GT(unlikely_without, 0u);  // else the case would not test the comparison
}

INSTANTIATE_TEST_SUITE_P(
    LongRows, SlowHonestSums,
    testing::Values("rms_norm N=40 M=1024 dtype=f32 @x=uniform(0.9,0.90001)",  // nearly equal
                    "rms_norm N=2 M=4096 dtype=f32 @x=uniform(0.69548872,0.69548873)",  // equal
                    "softmax N=40 M=2048 dtype=f32 @x=normal(6)",  // terms that are lost
                    "linear N=2 F=3 M=4096 dtype=f32 @x=uniform(0.69548872,0.69548873) "
                    "@weight=uniform(0.69548872,0.69548873)"));

// y = x / r(x) in f32; the last product is rounded towards 0.
Tensors CutOff(const SumQuestion& question) {
  const Tensor<double>&x = question.inputs[0].values, &weight = question.inputs[1].values;
  Tensors answer = question.CorrectAnswer();
  const size_t width = x.shape[1];
  for (size_t n = 0; n < x.shape[0]; ++n) {
    float sum = 0;
    for (size_t j = 0; j < width; ++j) {
      const auto value = static_cast<float>(x(n, j));
      sum += value * value;
    }
    const float root = 1 / std::sqrt(sum / static_cast<float>(width) + 1e-5f);
    for (size_t j = 0; j < width; ++j) {
      const double scaled = static_cast<float>(x(n, j)) * root;
      const double y = scaled * weight(j);
      auto cut = static_cast<float>(y);
      if (std::abs(static_cast<double>(cut)) > std::abs(y)) cut = std::nextafter(cut, 0.0f);
      answer[0].values(n, j) = cut;
    }
  }
  return answer;
}

// Sums of 32 squares of such numbers have a small systematic error, which cannot explain the bias.
TEST(SystematicError, ProductsRoundedTowardsZeroAreUnlikely) {
  const SumQuestion question("rms_norm N=1024 M=32 dtype=f32 @x=uniform(0.5,2)");
  const Verdict verdict = question.Judged(CutOff(question));
  EXPECT_EQ(verdict.status, Verdict::Status::kConforms);
  EXPECT_EQ(verdict.grade, Grade::kUnlikely);
  EXPECT_GT(verdict.tensors[0].correct_bias_bound, 0);
  EXPECT_GT(-verdict.tensors[0].bias, verdict.tensors[0].correct_bias_bound);
  EXPECT_LT(question.Judged(question.CorrectAnswer()).grade.value(), Grade::kUnlikely);
}

// linear has sums and no functions.
TEST(SystematicError, HonestBiasIsTwiceTheLargestMeanOfTheOrders) {
  const SumQuestion question(
      "linear N=64 F=32 M=8 dtype=f32 @x=uniform(0.5,2) @weight=uniform(0.5,2)");
  const Tensor<double>&x = question.inputs[0].values, &weight = question.inputs[1].values;
  Tensors answer = question.CorrectAnswer();
  for (size_t n = 0; n < 64; ++n) {
    for (size_t f = 0; f < 32; ++f) {
      double sum = 0;
      for (size_t m = 0; m < 8; ++m) sum += x(n, m) * weight(f, m);
      answer[0].values(n, f) = std::nextafter(static_cast<float>(sum), 0.0f);
    }
  }
  const Verdict verdict = question.Judged(answer);
  ASSERT_EQ(verdict.grade, Grade::kUnlikely);
  double largest = 0;
  for (const SumOrder& order :
       {SumOrder{Kind::kForwards, 1}, SumOrder{Kind::kLargestFirst, 1}, SumOrder{Kind::kLanes, 4},
        SumOrder{Kind::kBackwards, 1}, SumOrder{Kind::kLanes, 2}, SumOrder{Kind::kLanes, 8},
        SumOrder{Kind::kLanes, 16}, SumOrder{Kind::kLanes, 64}, SumOrder{Kind::kBlocks, 8},
        SumOrder{Kind::kBlocks, 64}, SumOrder{Kind::kHalves, 1}}) {
    largest = std::max(
        largest,
        std::abs(question.JudgedWithoutSystematicErrors(question.AnswerIn(order)).tensors[0].bias));
  }
  EXPECT_GT(largest, 0);
  EXPECT_DOUBLE_EQ(verdict.tensors[0].correct_bias_bound, 2 * largest);
}

// tanh rounded down: the error is always below one ulp, which the recipe permits.
TEST(SystematicError, FunctionErrorsMayBeOneSidedWithinTheirUlps) {
  const SumQuestion question("activation kind=tanh N=64 F=64 dtype=f32");
  Tensors answer = question.inputs;
  answer.resize(1);
  answer[0].name = "y";
  for (double& y : answer[0].values.data) {
    const double exact = std::tanh(y);
    auto low = static_cast<float>(exact);
    if (static_cast<double>(low) > exact) low = std::nextafter(low, -2.0f);
    y = low;
  }
  EXPECT_EQ(question.JudgedWithoutSystematicErrors(answer).grade, Grade::kUnlikely);
  EXPECT_LT(question.Judged(answer).grade.value(), Grade::kUnlikely);
}

// Answers that fail or are likely are not compared with the recipe's answers.
TEST(SystematicError, HonestBiasIsComputedForUnlikelyAnswersOnly) {
  const SumQuestion question("rms_norm N=3 M=7 dtype=f32");
  Tensors answer = question.CorrectAnswer();
  EXPECT_EQ(question.Judged(answer).tensors[0].correct_bias_bound, 0);
  answer[0].values.data[0] += 1;
  EXPECT_EQ(question.Judged(answer).status, Verdict::Status::kFails);
  EXPECT_EQ(question.Judged(answer).tensors[0].correct_bias_bound, 0);
}

TEST(SystematicError, OnlyBoundsOfUnlikelyTensorsAreEstimated) {
  const SumQuestion question("add_rms_norm N=2048 M=64 dtype=f32");
  const std::vector<GoldenTensor> golden = question.judge.golden();
  const std::vector<PermittedTensor> permitted = question.judge.permitted();
  std::vector<JudgedTensor> before = JudgeTensors(
      question.c, {.golden = golden, .permitted = permitted}, question.CorrectAnswer());
  ASSERT_EQ(before.size(), 2);
  const size_t y = before[0].verdict.name == "y" ? 0 : 1;
  for (const size_t unlikely : {0, 1}) {
    before[unlikely].verdict.grade = Grade::kUnlikely;
    before[1 - unlikely].verdict.grade = Grade::kWithin;
    std::vector<double> bounds;
    JudgeBySample(
        {question.c.operation(), question.c, ReadersOf(question.inputs), question.recipe, 0},
        [&](const Slice& slice) {
          return PartOf({.golden = golden, .permitted = permitted}, question.c, slice);
        },
        before,
        [&](const std::vector<double>& bias) {
          bounds = bias;
          return before;
        });
    ASSERT_EQ(bounds.size(), 2);
    EXPECT_EQ(bounds[1 - unlikely], 0);
    if (unlikely == y) EXPECT_GT(bounds[y], 0);
  }
}

}  // namespace
}  // namespace sextant::oracle
