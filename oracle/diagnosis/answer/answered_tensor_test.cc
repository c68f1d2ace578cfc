#include "oracle/diagnosis/answer/answered_tensor.h"

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

}  // namespace
}  // namespace sextant::oracle
