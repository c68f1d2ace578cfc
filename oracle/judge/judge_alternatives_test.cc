// If rounding may change a decision of the formula, both decisions conform.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/judge/judge.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;
using testing::HasSubstr;

// The upper limit of the ramp is ceil(29.00000005) = 30. In f32 the result may be 29.
class AmbiguousRamp : public testing::Test {
 protected:
  // The formula with its upper limit moved by `shift`.
  static Wrapped<RopeFrequencies> Moved(double shift) {
    YarnScaling yarn{.factor = 4, .original_max_position_embeddings = 140663};
    yarn.high_shift = shift;
    return Wrapped<RopeFrequencies>({.base = 1e6, .scaling = yarn, .R = {80}});
  }
  // The exact answer with the upper limit moved. Element `unmoved`, if any, is that of the formula.
  Tensors Answer(double shift, size_t unmoved = 40) const {
    const Recipe exact = ParseRecipe("exact", DType::kF32);
    Tensors answer = EvaluateByRecipe({c_, Tensors{}, exact, Moved(shift)});
    if (unmoved < 40)
      answer[0].values.data[unmoved] =
          EvaluateByRecipe({c_, Tensors{}, exact})[0].values.data[unmoved];
    return answer;
  }
  Verdict By(const std::string& recipe, const Tensors& answer) const {
    const Tensors none;
    return Judge(c_, none, ParseRecipe(recipe, DType::kF32)).Evaluate(answer);
  }
  Case c_ = Case::Parse(
      "rope_frequencies R=80 base=1000000 "
      "scaling=yarn(factor=4,original_max_position_embeddings=140663)");
};

TEST_F(AmbiguousRamp, BothDecisionsConform) {
  EXPECT_EQ(By("native", Answer(0)).message, "");
  EXPECT_EQ(By("native", Answer(0)).status, Status::kConforms);
  EXPECT_EQ(By("native", Answer(-1)).status, Status::kConforms);
  EXPECT_THAT(By("native", Answer(-1)).message,
              HasSubstr("conforms to the alternative rounding decision"));
}

TEST_F(AmbiguousRamp, MixedDecisionsFail) {
  EXPECT_EQ(By("native", Answer(-1, 20)).status, Status::kFails);
  EXPECT_EQ(By("native", Answer(+1)).status, Status::kFails);
}

// If the two decisions permit different errors, each answer is judged by those of its decision.
TEST_F(AmbiguousRamp, TheAlternativeHasItsOwnPermittedErrors) {
  const Tensors none;
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const auto permitted = PermittedErrors({c_, none, recipe})[0].error.data;
  const auto other = PermittedErrors({c_, none, recipe, Moved(-1)})[0].error.data;
  const auto golden = Prove({c_, none, recipe, Moved(-1)})[0];
  size_t different = 0;
  for (size_t i = 0; i < permitted.size(); ++i) {
    const double least = std::min(permitted[i], other[i]), most = std::max(permitted[i], other[i]);
    Tensors answer = Answer(-1);
    double& y = answer[0].values.data[i];
    y = RoundTo(DType::kF32, golden.high.data[i] + (least + most) / 2);
    const double error = std::abs((y - golden.high.data[i]) - golden.low.data[i]);
    if (!(error > least && error <= most)) continue;  // both permit the same error
    const bool permits = other[i] == most;
    ++different;
    EXPECT_EQ(By("native", answer).status, permits ? Status::kConforms : Status::kFails) << i;
  }
  EXPECT_GT(different, 0u);
}

// A recipe that does not round the limit has no alternative.
TEST_F(AmbiguousRamp, ExactLimitsHaveOneDecision) {
  EXPECT_EQ(By("exact_table", Answer(0)).status, Status::kConforms);
  EXPECT_EQ(By("exact_table", Answer(-1)).status, Status::kFails);
}

}  // namespace
}  // namespace sextant::oracle
