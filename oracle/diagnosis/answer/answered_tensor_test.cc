#include "oracle/diagnosis/answer/answered_tensor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

bool HasLargeErrorsIf(double (*of)(double y)) {
  const DrawnCase question("rms_norm N=4 M=50");
  Tensors answer = question.CorrectAnswer();
  for (double& y : answer[0].values.data) y = RoundTo(DType::kF32, of(y));
  const Judge judge(question.c, question.inputs, question.recipe);
  const Observation seen{question.c,     question.inputs,   question.recipe,
                         judge.golden(), judge.permitted(), answer};
  return HasLargeErrors(AnsweredTensorOf(seen, 0).value());
}

TEST(AnsweredTensor, RoundingTo16BitsIsNoLargeError) {
  EXPECT_FALSE(HasLargeErrorsIf([](double y) { return y; }));
  EXPECT_FALSE(HasLargeErrorsIf([](double y) { return RoundTo(DType::kBF16, y); }));
  EXPECT_FALSE(HasLargeErrorsIf([](double y) { return 1.01 * y; }));
  EXPECT_TRUE(HasLargeErrorsIf([](double y) { return y + 0.1; }));
  EXPECT_TRUE(HasLargeErrorsIf([](double y) { return y > 2 ? NAN : y; }));
}

// One column is large; others are exchanged.
TEST(AnsweredTensor, ALargeColumnHidesNoErrors) {
  DrawnCase question("rms_norm N=4 M=50");
  question.inputs[1].values.data[7] = 1000;
  Tensors answer = question.CorrectAnswer();
  std::swap(answer[0].values.data[3], answer[0].values.data[4]);
  const Judge judge(question.c, question.inputs, question.recipe);
  const Observation seen{question.c,     question.inputs,   question.recipe,
                         judge.golden(), judge.permitted(), answer};
  EXPECT_TRUE(HasLargeErrors(AnsweredTensorOf(seen, 0).value()));
}

// On several threads: elements at the ends of the blocks of 2^16, and a NaN.
TEST(AnsweredTensor, ListsFailingElementsInOrder) {
  const DrawnCase question("rms_norm N=2048 M=96");
  Tensors answer = question.CorrectAnswer();
  const std::vector<size_t> wrong = {0, 65535, 65536, 70000, 131071, 131072, 196607};
  for (const size_t i : wrong) answer[0].values.data[i] += i == 70000 ? NAN : 1;
  const Judge judge(question.c, question.inputs, question.recipe);
  const Observation seen{question.c,     question.inputs,   question.recipe,
                         judge.golden(), judge.permitted(), answer};
  for (const int threads : {1, 4})
    EXPECT_EQ(AnsweredTensorOf(seen, 0, threads).value().failing, wrong);
}

// The indices of every axis, beside those by division of each element.
TEST(AxisView, IndicesOfElements) {
  const std::vector<AxisView> axes = {{"B", 1, 3, 20}, {"S", 3, 4, 5}, {"D", 12, 5, 1}};
  const std::vector<std::vector<size_t>> some = {
      {}, {0}, {59}, {4, 5}, {0, 1, 2, 3, 4, 20, 24, 40}, {7, 9, 12, 13, 19, 21, 58}};
  std::vector<size_t> all(60);
  std::iota(all.begin(), all.end(), size_t{0});
  for (const AxisView& axis : axes) {
    for (const auto& elements : some) {
      std::set<size_t> expected;
      for (const size_t flat : elements) expected.insert(flat / axis.inner % axis.extent);
      EXPECT_EQ(axis.IndicesOf(elements), std::vector(expected.begin(), expected.end()));
    }
    EXPECT_EQ(axis.IndicesOf(all).size(), axis.extent);
  }
}

}  // namespace
}  // namespace sextant::oracle
