#include "oracle/profile/recipe_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

std::vector<DifferenceOfOutput> DifferencesIn(const std::string& line, const std::string& a,
                                              const std::string& b) {
  const Case c = Case::Parse(line);
  return DifferencesOfRecipes(c, DrawInputs(c), a, b, {});
}

constexpr char kAttention[] = "attention H=2 K=1 S=8 T=64 D=32 E=16 dtype=bf16";

TEST(DifferencesOfRecipes, AreThoseOfTheStepWhoseRuleDiffers) {
  const auto y = DifferencesIn(kAttention, "*=f32 store=T", "*=f32 score=bf16 store=T")[0];
  ASSERT_EQ(y.steps.size(), 1u);
  EXPECT_EQ(y.steps[0].step, "score");
  EXPECT_EQ(y.steps[0].rule, "f32");
  EXPECT_EQ(y.steps[0].other_rule, "bf16");
  EXPECT_GT(y.measured.p99, 0);
  EXPECT_EQ(y.steps[0].measured.p99, y.measured.p99);
}

TEST(DifferencesOfRecipes, AreWithinWhatBothPermit) {
  const auto outputs = DifferencesIn(kAttention, "f32_compute", "native");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].output, "y");
  EXPECT_EQ(outputs[0].elements, 256u);
  for (const DifferenceOfOutput& output : outputs) {
    EXPECT_GT(output.measured.largest, 0);
    EXPECT_LE(output.measured.largest, output.permitted.largest);
    EXPECT_LE(output.measured.p99, output.permitted.p99);
    for (size_t i = 1; i < output.steps.size(); ++i)
      EXPECT_GE(output.steps[i - 1].measured.p99, output.steps[i].measured.p99);
  }
  EXPECT_EQ(outputs[0].steps.size(), 2u);  // score, weigh
  EXPECT_EQ(outputs[1].steps.size(), 1u);  // weights do not matter to lse
}

TEST(DifferencesOfRecipes, AreNothingBetweenEqualRecipes) {
  for (const DifferenceOfOutput& output : DifferencesIn(kAttention, "native", "native")) {
    EXPECT_EQ(output.measured.largest, 0);
    EXPECT_TRUE(output.steps.empty());
  }
}

TEST(DifferencesOfRecipes, RefuseCodes) {
  EXPECT_THAT([] { DifferencesIn("quantize N=2 M=32 A=1 G=1", "native", "f32_compute"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("chooses codes or indices")));
}

}  // namespace
}  // namespace sextant::oracle
