#include "oracle/profile/recipe_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

RecipeDifference DifferenceIn(const std::string& line, const std::string& a, const std::string& b) {
  const Case c = Case::Parse(line);
  return DifferenceOfRecipes(c, DrawInputs(c), a, b, {});
}

constexpr char kAttention[] = "attention H=2 K=1 S=8 T=64 D=32 E=16 dtype=bf16";

TEST(DifferenceOfRecipes, IsThatOfTheStepWhoseRuleDiffers) {
  const std::string a = "*=f32 store=T", b = "*=f32 score=bf16 store=T";
  const RecipeDifference both = DifferenceIn(kAttention, a, b);
  ASSERT_EQ(both.steps.size(), 1u);
  EXPECT_EQ(both.steps[0].step, "score");
  EXPECT_EQ(both.steps[0].rule, "f32");
  EXPECT_EQ(both.steps[0].other_rule, "bf16");
  EXPECT_GT(both.measured.p99, 0);
  EXPECT_EQ(both.steps[0].measured.p99, both.measured.p99);
}

TEST(DifferenceOfRecipes, IsWithinWhatBothPermit) {
  const RecipeDifference both = DifferenceIn(kAttention, "f32_compute", "native");
  ASSERT_EQ(both.outputs.size(), 2u);
  EXPECT_EQ(both.outputs[0].output, "y");
  EXPECT_EQ(both.outputs[0].elements, 256u);
  for (const DifferenceOfOutput& output : both.outputs) {
    EXPECT_GT(output.measured.largest, 0);
    EXPECT_LE(output.measured.largest, output.permitted.largest);
    EXPECT_LE(output.measured.p99, output.permitted.p99);
  }
  EXPECT_GT(both.steps.size(), 1u);
  for (size_t i = 1; i < both.steps.size(); ++i)
    EXPECT_GE(both.steps[i - 1].measured.p99, both.steps[i].measured.p99);
}

TEST(DifferenceOfRecipes, IsNothingBetweenEqualRecipes) {
  const RecipeDifference both = DifferenceIn(kAttention, "native", "native");
  EXPECT_EQ(both.measured.largest, 0);
  EXPECT_TRUE(both.steps.empty());
}

TEST(DifferenceOfRecipes, RefusesCodes) {
  EXPECT_THAT([] { DifferenceIn("quantize N=2 M=32 A=1", "native", "f32_compute"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("chooses codes or indices")));
}

}  // namespace
}  // namespace sextant::oracle
