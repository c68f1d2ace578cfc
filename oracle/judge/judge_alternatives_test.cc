// Where rounding may decide otherwise than the formula: the other decision is a truth as well.
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

// The upper limit of the ramp is ceil(29.00000005) = 30. In f32 it may come out as 29.
class AmbiguousRamp : public testing::Test {
 protected:
  // The truth with its upper limit moved.
  static Wrapped<RopeFrequencies> Moved(double shift) {
    YarnScaling yarn{.factor = 4, .original_max_position_embeddings = 140663};
    yarn.high_shift = shift;
    return Wrapped<RopeFrequencies>({.base = 1e6, .scaling = yarn, .R = {80}});
  }
  // Right but for an upper limit that is moved, and element `other` as the truth has it.
  Tensors Answer(double shift, size_t other = 40) const {
    const Recipe exact = ParseRecipe("exact", DType::kF32);
    Tensors answer = AnswerBy(Moved(shift), c_, {}, exact);
    if (other < 40) answer[0].values.data[other] = AnswerBy(c_, {}, exact)[0].values.data[other];
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

TEST_F(AmbiguousRamp, EitherIsRightAsAWhole) {
  EXPECT_EQ(By("native", Answer(0)).message, "");
  EXPECT_EQ(By("native", Answer(0)).status, Status::kConforms);
  EXPECT_EQ(By("native", Answer(-1)).status, Status::kConforms);
  EXPECT_THAT(By("native", Answer(-1)).message,
              HasSubstr("conforms to the alternative rounding decision"));
}

TEST_F(AmbiguousRamp, AMixtureIsNot) {
  EXPECT_EQ(By("native", Answer(-1, 20)).status, Status::kFails);
  EXPECT_EQ(By("native", Answer(+1)).status, Status::kFails);
}

// Where the two truths permit different errors, an answer by the other one must keep to its own.
TEST_F(AmbiguousRamp, TheOtherTruthHasItsOwnPermittedErrors) {
  const Tensors none;
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const auto permitted = Permit(c_, none, recipe)[0].error.data;
  const auto other = Permit(Moved(-1), c_, none, recipe)[0].error.data;
  const auto golden = Prove(Moved(-1), c_, none, recipe)[0];
  size_t stricter = 0, laxer = 0;
  for (size_t i = 0; i < permitted.size(); ++i) {
    const double least = std::min(permitted[i], other[i]), most = std::max(permitted[i], other[i]);
    Tensors answer = Answer(-1);
    double& y = answer[0].values.data[i];
    y = RoundTo(DType::kF32, golden.high.data[i] + (least + most) / 2);
    const double error = std::abs((y - golden.high.data[i]) - golden.low.data[i]);
    if (!(error > least && error <= most)) continue;  // they permit the same
    const bool lax = other[i] == most;
    ++(lax ? laxer : stricter);
    EXPECT_EQ(By("native", answer).status, lax ? Status::kConforms : Status::kFails) << i;
  }
  EXPECT_GT(stricter + laxer, 0u);
}

// Who does not round the limit has no choice.
TEST_F(AmbiguousRamp, ExactLimitsHaveOneTruth) {
  EXPECT_EQ(By("exact_table", Answer(0)).status, Status::kConforms);
  EXPECT_EQ(By("exact_table", Answer(-1)).status, Status::kFails);
}

}  // namespace
}  // namespace sextant::oracle
