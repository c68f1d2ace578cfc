#include "oracle/catalog/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

// A layer whose weight is read transposed, and a relu after it.
TEST(LayeredCauses, AListedDefectAndAFunctionOfTheOutput) {
  const AskedCase question("linear N=9 F=16 M=16 dtype=f32");
  Tensors answer = question.Predicted(DefectNamed("linear", "weight_transposed"));
  for (double& y : answer[0].values.data) y = std::max(y, 0.0);
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("weight_transposed "),
                                HasSubstr("together with function_of_output")),
                          AllOf(StartsWith("function_of_output "), HasSubstr("max(y, 0), a relu"),
                                HasSubstr("the right numbers are those of weight_transposed"))));
}

// An eps that no defect has, and a first column of which each row has that of the row before.
TEST(LayeredCauses, AMeasuredDeviationAndAMovedColumn) {
  const AskedCase question("rms_norm N=12 M=48 eps=1e-05 dtype=f32 @x=normal(0.005)");
  const Tensors eps =
      EvaluateByRecipe({question.c.With("eps=3.7e-05"), question.inputs, question.recipe});
  Tensors answer = eps;
  for (size_t n = 0; n < 12; ++n) answer[0].values(n, 0) = eps[0].values((n + 11) % 12, 0);
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("eps_changed "), HasSubstr("eps is 3.7e-05")),
                          AllOf(StartsWith("scattered "), HasSubstr("the element 48 before"),
                                HasSubstr("M 0"))));
}

// Sums of two rows, and a relu.
TEST(LayeredCauses, SumsAndAFunctionOfThem) {
  const AskedCase question("linear N=9 F=12 M=20 dtype=f32");
  const Tensors right = question.CorrectAnswer();
  Tensors answer = right;
  for (size_t i = 0; i < 9 * 12; ++i) {
    const double sum = right[0].values.data[i] + (i < 12 ? 0 : right[0].values.data[i - 12]);
    answer[0].values.data[i] = static_cast<float>(std::max(sum, 0.0));
  }
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("accumulated "), HasSubstr("of the one before")),
                          AllOf(StartsWith("function_of_output "), HasSubstr("a relu"))));
}

// Frequencies as large as periods: nearly every cos and sin of them may be any number, which would
// explain every answer.
TEST(LayeredCauses, ADefectThatPermitsNearlyEverythingExplainsNothing) {
  const AskedCase question("rope_cos_sin layout=half_width R=64 S=32 base=500000 dtype=bf16");
  const Tensors right = question.CorrectAnswer();
  Tensors answer = right;
  for (size_t o = 0; o < 2; ++o) {
    for (size_t i = 0; i < 32 * 32; ++i) {
      const double x = 1.3 * right[o].values.data[i / 32 * 32 + (i + 31) % 32];
      answer[o].values.data[i] = RoundTo(DType::kBF16, x);
    }
  }
  EXPECT_THAT(question.Causes(answer), Not(Contains(StartsWith("exponent_positive"))));
}

// Nothing is said if a few elements have numbers of another kind of bug.
TEST(LayeredCauses, IsEmptyIfElementsAreLeft) {
  const AskedCase question("rms_norm N=12 M=48 eps=1e-05 dtype=f32 @x=normal(0.005)");
  Tensors answer =
      EvaluateByRecipe({question.c.With("eps=3.7e-05"), question.inputs, question.recipe});
  for (size_t n = 0; n < 12; ++n)
    answer[0].values(n, 0) += 0.01 * std::sin(static_cast<double>(n + 1));
  EXPECT_THAT(question.Causes(answer), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
