#include "oracle/diagnosis/answer/added_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// The causes of the right answer plus `factor` times an input.
std::vector<std::string> CausesWithAdded(const std::string& line, const std::string& input,
                                         double factor) {
  const AskedCase question(line);
  Tensors answer = EvaluateByRecipe(question);
  Tensors inputs = question.inputs;
  const std::vector<double>& x = InputNamed(inputs, input).data;
  for (size_t i = 0; i < x.size(); ++i)
    answer[0].values.data[i] =
        RoundTo(question.c.dtype(), answer[0].values.data[i] + factor * x[i]);
  return question.Causes(answer);
}

TEST(AddedInput, IsNamed) {
  for (const char* dtype : {"f32", "bf16"}) {
    const std::string line = "linear N=12 M=20 F=20 dtype=" + std::string(dtype);
    EXPECT_THAT(CausesWithAdded(line, "x", 1), Contains("x_added (x is added to y)")) << dtype;
    EXPECT_THAT(CausesWithAdded(line, "x", -1), Contains("x_subtracted (x is subtracted from y)"))
        << dtype;
    EXPECT_THAT(CausesWithAdded(line, "x", 0.25), Contains(StartsWith("x_added (0.25"))) << dtype;
  }
}

TEST(AddedInput, IsNoneWhereTheFactorIsThatOfARounding) {
  EXPECT_THAT(CausesWithAdded("linear N=12 M=20 F=20 dtype=f32", "x", 0x1p-8),
              Not(Contains(HasSubstr("x_added"))));
}

}  // namespace
}  // namespace sextant::oracle
