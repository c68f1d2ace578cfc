#include "oracle/diagnosis/repeated_question.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "oracle/defect/drawn_case_test.h"

namespace sextant::oracle {
namespace {

// The subject's second answer differs from the right one by `error` permitted errors in 3 elements.
std::string DifferenceIf(double error, bool may_vary = true) {
  const DrawnCase question("linear N=4 F=4 M=16 dtype=f32");
  const Tensors first = question.CorrectAnswer();
  const auto permitted = PermittedErrors(question);
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

TEST(RepeatedQuestion, IsAnsweredBeforeOtherQuestions) {
  const DrawnCase question("linear N=4 F=4 M=16 dtype=f32");
  const DrawnCase other("linear N=2 F=4 M=16 dtype=f32");
  const Tensors first = question.CorrectAnswer();
  const auto permitted = PermittedErrors(question);
  std::vector<std::string> asked;
  const Subject subject{.name = "slow",
                        .recipe = "native",
                        .answer =
                            [&](const Case& c, const Tensors&) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(20));
                              asked.push_back(c.ToString());
                              return Answer{.message = "", .outputs = first};
                            },
                        .may_vary = true};
  const std::vector<GoldenTensor> golden;
  const Observation seen{question.c, question.inputs, question.recipe, golden,
                         permitted,  first,           {&subject}};
  const RepeatedQuestion again(seen);
  again.subject()->answer(other.c, other.inputs);
  EXPECT_EQ(again.Difference(), "");
  EXPECT_EQ(asked, (std::vector<std::string>{question.c.ToString(), other.c.ToString()}));
}

// Answers the number of the question.
struct Counting {
  int asked = 0;
  Subject subject{.name = "counting",
                  .recipe = "native",
                  .answer =
                      [this](const Case&, const Tensors&) {
                        return Answer{.message = std::to_string(++asked), .outputs = {}};
                      },
                  .may_vary = true};
};

TEST(AskedAhead, IsAskedOnceForTheNextQuestion) {
  const DrawnCase question("linear N=4 F=4 M=16"), other("linear N=2 F=4 M=16");
  Counting counting;
  const Subject ahead = AskedAhead(counting.subject, question.c, question.inputs);
  EXPECT_EQ(ahead.answer(question.c, question.inputs).message, "1");
  EXPECT_EQ(ahead.answer(question.c, question.inputs).message, "2");
  EXPECT_EQ(ahead.answer(other.c, other.inputs).message, "3");
}

TEST(AskedAhead, AnswersAnotherQuestionWithItsOwnAnswer) {
  const DrawnCase question("linear N=4 F=4 M=16"), other("linear N=2 F=4 M=16");
  Counting counting;
  const Subject ahead = AskedAhead(counting.subject, question.c, question.inputs);
  EXPECT_EQ(ahead.answer(other.c, other.inputs).message, "2");
}

TEST(AskedAhead, DoesNotAskWhatDoesNotVary) {
  const DrawnCase question("linear N=4 F=4 M=16");
  Counting counting;
  counting.subject.may_vary = false;
  AskedAhead(counting.subject, question.c, question.inputs);
  EXPECT_EQ(counting.asked, 0);
}

}  // namespace
}  // namespace sextant::oracle
