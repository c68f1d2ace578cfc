#include "oracle/catalog/wrong_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// 3 heads of 8 tokens with 16 channels.
struct Rows : testing::Test {
  const AskedCase question{"rope pairing=half H=3 S=8 D=16 dtype=f32 @position=5..12"};
  // The answer with these rows rotated backwards: row i is head i / 8, token i % 8.
  Tensors Backwards(const std::vector<size_t>& rows) const {
    Tensors answer = question.CorrectAnswer();
    const Tensors wrong = EvaluateByRecipe(
        {question.c.With("direction=transpose"), question.inputs, question.recipe});
    for (const size_t row : rows) {
      for (size_t i = 16 * row; i < 16 * (row + 1); ++i)
        answer[0].values.data[i] = wrong[0].values.data[i];
    }
    return answer;
  }
};

// A race: some rows of all heads, which are slices in another order than in the tensor.
TEST_F(Rows, ThatADefectPredicts) {
  EXPECT_THAT(question.Causes(Backwards({1, 11, 5, 22})),
              Contains(AllOf(StartsWith("rotates_backwards "),
                             HasSubstr("explains 64 of 64 failing elements, in whole rows: "
                                       "S 1, 3, 5 to 6; "),
                             HasSubstr("the other rows are right"))));
}

TEST_F(Rows, BesideRowsThatNoDefectPredicts) {
  Tensors answer = Backwards({1, 4, 6, 9, 11, 15});
  for (size_t i = 16 * 2; i < 16 * 3; ++i) answer[0].values.data[i] += std::sin(i * i) + 2;
  EXPECT_THAT(question.Causes(answer),
              Contains(AllOf(StartsWith("rotates_backwards "),
                             HasSubstr("explains 96 of 112 failing elements"),
                             HasSubstr("the others are not explained"))));
}

// Parts of rows may look like many things.
TEST_F(Rows, OfWhichAPartIsWrongAreNotExplained) {
  Tensors answer = Backwards({1, 4, 6, 9, 11, 15});
  for (const size_t row : {1, 4, 6, 9, 11, 15}) answer[0].values.data[16 * row + row] += 0.5;
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

TEST_F(Rows, OfAnotherKindAreNotExplained) {
  Tensors answer = question.CorrectAnswer();
  for (const size_t row : {1, 4, 6, 9, 11, 15}) {
    for (size_t i = 16 * row; i < 16 * (row + 1); ++i)
      answer[0].values.data[i] += 1 + std::sin(i * i);
  }
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

// Tokens act as others at a distance of (token mod 4)^2: that is the token before for some of them.
TEST(CausesOfRows, AreNoneIfAnotherRuleHoldsForManyOfThem) {
  const AskedCase question("embedding S=20 V=300 M=16 scale=55.5 dtype=bf16");
  const Tensor<double>&token = InputNamed(question.inputs, "token"),
        &table = InputNamed(question.inputs, "table");
  Tensors answer = question.CorrectAnswer();
  for (size_t i = 0; i < answer[0].values.data.size(); ++i) {
    const auto own = static_cast<size_t>(token.data[i / 16]);
    const size_t row = (own + 300 - own % 4 * (own % 4)) % 300;
    answer[0].values.data[i] = RoundTo(DType::kBF16, 55.5 * table(row, i % 16));
  }
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
