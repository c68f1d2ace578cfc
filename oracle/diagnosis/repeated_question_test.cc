#include "oracle/diagnosis/repeated_question.h"

#include <gtest/gtest.h>

#include "oracle/defect/drawn_case_test.h"

namespace sextant::oracle {
namespace {

// The subject's second answer differs from the right one by `error` permitted errors in 3 elements.
std::string DifferenceIf(double error, bool may_vary = true) {
  const DrawnCase question("linear N=4 F=4 M=16 dtype=f32");
  const Tensors first = question.CorrectAnswer();
  const auto permitted = PermittedErrors(question.c, question.inputs, question.recipe);
  Tensors second = first;
  for (const size_t i : {1, 5, 9}) second[0].values.data[i] += error * permitted[0].error.data[i];
  const Subject subject{
      .name = "racing",
      .recipe = "native",
      .answer = [&](const Case&,
                    const Tensors&) { return Answer{.message = "", .outputs = second}; },
      .may_vary = may_vary};
  const std::vector<GoldenTensor> golden;
  return DifferenceOfSecondAnswer(
      {question.c, question.inputs, question.recipe, golden, permitted, first, &subject});
}

TEST(DifferenceOfSecondAnswer, CountsElementsThatVary) {
  EXPECT_EQ(DifferenceIf(100), "the same question gave another answer: 3 of 16 elements differ");
}

TEST(DifferenceOfSecondAnswer, AcceptsAnotherOrderOfSums) { EXPECT_EQ(DifferenceIf(1), ""); }

TEST(DifferenceOfSecondAnswer, AsksOnlySubjectsThatMayVary) {
  EXPECT_EQ(DifferenceIf(100, false), "");
}

}  // namespace
}  // namespace sextant::oracle
