#include "oracle/profile/step_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/profile/cheapest_recipe.h"
#include "oracle/profile/worst_case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

// A case with everything that a ProvenCase refers to.
struct Proven {
  explicit Proven(const std::string& line)
      : c(Case::Parse(line)),
        inputs(DrawInputs(c)),
        values(ProveAndPermit({c, inputs, ParseRecipe("native", c.dtype())})) {}
  Case c;
  Tensors inputs;
  ProvenAndPermitted values;
  std::vector<ProvenCase> cases() const { return {{c, inputs, values.golden, values.permitted}}; }
};

const StepCost& CostOf(const StepCosts& costs, const std::string& step) {
  return *std::ranges::find(costs.steps, step, &StepCost::step);
}

const std::string kRope = "rope pairing=half H=1 D=64 dtype=bf16 @position=log(1..4096)";

TEST(StepCostsOf, TheTableInBf16CostsMostOfTheError) {
  const Proven proven(kRope);
  const StepCosts costs = StepCostsOf(proven.cases(), "native", 1);
  EXPECT_GT(CostOf(costs, "table").only.p99, 2);
  EXPECT_LT(CostOf(costs, "angle").only.p99, 0.1);
  EXPECT_LE(CostOf(costs, "store").only.largest, 0.5);
  // Only a table that is kept in f32 can be better than the step that reads it in bf16.
  EXPECT_GE(CostOf(costs, "rotate").only.p99, CostOf(costs, "table").only.p99);
  double added = 0;
  for (const StepCost& one : costs.steps) added += one.added;
  EXPECT_DOUBLE_EQ(added, costs.total.p99);  // the last step adds what is missing
}

TEST(StepCostsOf, ExactStepsCostNothing) {
  const Proven proven("rms_norm N=4 M=64");
  const StepCosts costs = StepCostsOf(proven.cases(), "exact", 1);
  ASSERT_EQ(costs.steps.size(), 1);
  EXPECT_EQ(costs.steps[0].step, "store");
  EXPECT_LE(costs.total.largest, 0.5);
  EXPECT_DOUBLE_EQ(costs.remainder, 0);
}

TEST(CheapestBelow, KeepsTheBound) {
  const Proven proven(kRope);
  const auto loose = CheapestBelow(4, proven.cases(), 1),
             tight = CheapestBelow(0.6, proven.cases(), 1);
  ASSERT_TRUE(loose && tight);
  EXPECT_LE(loose->p99, 4);
  EXPECT_LE(tight->p99, 0.6);
  EXPECT_EQ(tight->recipe.find("table=bf16"), std::string::npos);
  EXPECT_FALSE(CheapestBelow(0.1, proven.cases(), 1));
  // The recipe does what it says.
  const auto errors = DistributionOf(
      UlpErrorsBy(proven.cases(), [&](DType dtype) { return ParseRecipe(loose->recipe, dtype); }));
  EXPECT_EQ(errors.p99, loose->p99);
}

// The subject is wrong only at positions from 100 on, by as many ulps as the position.
TEST(FindWorst, FindsTheLargestPosition) {
  Subject subject = RecipeSubject("native");
  const auto right = subject.answer;
  subject.answer = [right](const Case& c, const Tensors& inputs) {
    Answer answer = right(c, inputs);
    auto& y = answer.outputs[0].values;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double position = inputs[1].values.data[i / 4];
      if (position >= 100) y.data[i] *= 1 + position * 0x1p-23;
    }
    return answer;
  };
  const Case start = Case::Parse("rope pairing=half H=1 S=2 D=4 @position=0,1000");
  const WorstSearch search{.recipe = "native", .questions = 60, .seed = 3};
  const auto found = FindWorst(start, subject, search);
  ASSERT_FALSE(found.empty());
  EXPECT_GT(found.front().permitted, 50);
  const auto again = FindWorst(start, subject, search);
  EXPECT_EQ(again.front().case_line, found.front().case_line);
  // The line repeats the error.
  const auto repeated = FindWorst(Case::Parse(found.front().case_line), subject,
                                  {.recipe = "native", .questions = 1});
  EXPECT_EQ(repeated.front().permitted, found.front().permitted);
}

}  // namespace
}  // namespace sextant::oracle
