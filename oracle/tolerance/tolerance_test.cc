#include "oracle/tolerance/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "oracle/catalog/catalog.h"
#include "reference/base/error_test.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;

ToleranceGrade Graded(const std::string& line, const Tolerance& tolerance,
                      const std::string& recipe = "native") {
  const Case c = Case::Parse(line);
  return GradeTolerance(c, DrawInputs(c), ParseRecipe(recipe, c.dtype()), tolerance);
}

size_t Passing(const ToleranceGrade& grade) {
  return static_cast<size_t>(std::ranges::count(grade.bugs, true, &ToleranceGrade::Bug::passes));
}

constexpr char kNorm[] = "rms_norm N=8 M=64 dtype=bf16";

TEST(GradeTolerance, ATightOneRejectsRightAnswersAndNoBug) {
  const ToleranceGrade grade = Graded(kNorm, {0, 0});
  EXPECT_EQ(grade.elements, 8u * 64);
  EXPECT_EQ(grade.left_out, 0u);
  EXPECT_EQ(grade.may_reject, grade.elements);
  EXPECT_GT(grade.bugs.size(), 10u);
  EXPECT_EQ(Passing(grade), 0u);
}

TEST(GradeTolerance, AWideOneRejectsNothing) {
  const ToleranceGrade grade = Graded(kNorm, {1e6, 0});
  EXPECT_EQ(grade.may_reject, 0u);
  EXPECT_EQ(grade.likely_reject, 0u);
  const auto is_finite = [](const auto& bug) { return bug.name.find("nan") == std::string::npos; };
  EXPECT_GT(Passing(grade), static_cast<size_t>(std::ranges::count_if(grade.bugs, is_finite)) / 2);
}

// The figures are those of the permitted errors and answers themselves.
TEST(GradeTolerance, CountsWhatThePermittedErrorsSay) {
  const Tolerance tolerance{1e-3, 1e-2};
  const ToleranceGrade grade = Graded(kNorm, tolerance);
  const Case c = Case::Parse(kNorm);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const ProvenAndPermitted proven = ProveAndPermit({c, inputs, recipe});
  const std::vector<double>&exact = proven.golden[0].high.data,
        &permitted = proven.permitted[0].error.data, &likely = proven.permitted[0].likely.data;
  size_t may_reject = 0, likely_reject = 0;
  double needed = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double allowed = 1e-3 + 1e-2 * std::abs(exact[i]);
    may_reject += permitted[i] > allowed;
    likely_reject += likely[i] > allowed;
    needed = std::max(needed, permitted[i] - 1e-2 * std::abs(exact[i]));
    EXPECT_LE(permitted[i], grade.smallest.At(exact[i]));
  }
  EXPECT_EQ(grade.may_reject, may_reject);
  EXPECT_EQ(grade.likely_reject, likely_reject);
  EXPECT_GT(may_reject, 0u);
  EXPECT_GE(grade.needed_atol, needed);
  EXPECT_LE(grade.needed_atol, needed * 1.1);
  EXPECT_GT(grade.worst.permitted, tolerance.At(grade.worst.expected));
  for (const ToleranceGrade::Bug& bug : grade.bugs) {
    const auto hypothesis = DefectNamed(c.name(), bug.name).hypothesis(c, inputs, recipe);
    const Tensors answer =
        EvaluateByRecipe({c, hypothesis->inputs, hypothesis->recipe, *hypothesis->operation});
    bool passes = true, is_right = true;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double error = std::abs(answer[0].values.data[i] - exact[i]);
      passes &= error <= tolerance.At(exact[i]);
      is_right &= error <= permitted[i];
    }
    EXPECT_EQ(bug.passes, passes) << bug.name;
    EXPECT_FALSE(is_right) << bug.name;
  }
}

TEST(GradeTolerance, IsOfAPartWithinABudget) {
  const ScopedBudget within({.elements = 512});
  const ToleranceGrade grade = Graded("softmax N=4096 M=64", {0, 1e-6});
  ASSERT_TRUE(grade.sample);
  EXPECT_LT(grade.elements, 64u * 4096);
  EXPECT_GT(grade.elements, 0u);
  EXPECT_FALSE(grade.bugs.empty());
}

// An output that may be omitted is not compared, so no bug of it alone counts.
TEST(GradeTolerance, IsThatOfRequiredOutputs) {
  const ToleranceGrade grade = Graded("attention H=1 S=3 T=4 D=4 mask=none", {0, 0});
  EXPECT_EQ(grade.elements, 3u * 4);
  for (const ToleranceGrade::Bug& bug : grade.bugs)
    EXPECT_EQ(bug.name.find("lse"), std::string::npos) << bug.name;
}

TEST(GradeTolerance, DoesNotApplyToChoices) {
  EXPECT_THAT(MessageOf([] { Graded("quantize N=2 A=1 G=16 M=16", {}); }),
              HasSubstr("quantize chooses codes or indices"));
}

double MeanOf(const Tolerance& tolerance, const std::vector<MagnitudeAndError>& points) {
  double sum = 0;
  for (const auto& [magnitude, error] : points) sum += tolerance.At(magnitude);
  return sum / static_cast<double>(points.size());
}

bool IsEnough(const Tolerance& tolerance, const std::vector<MagnitudeAndError>& points) {
  return std::ranges::all_of(points, [&](const MagnitudeAndError& p) {
    return p.second <= tolerance.At(p.first) * (1 + 1e-12);
  });
}

// Nothing on a grid is smaller, and nothing is exceeded.
TEST(SmallestTolerance, IsTheLeastLineAboveAllPoints) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<MagnitudeAndError> points;
    const double slope = round % 3 - 1;  // errors that fall, do not depend, grow
    for (int i = 0; i < 1 + round % 12; ++i) {
      const double magnitude = round % 5 == 0 ? 0.5 : uniform(random);
      points.emplace_back(magnitude, std::max(0.0, slope * magnitude + uniform(random)));
    }
    const Tolerance smallest = SmallestTolerance(points);
    EXPECT_GE(smallest.atol, 0);
    EXPECT_GE(smallest.rtol, 0);
    EXPECT_TRUE(IsEnough(smallest, points)) << round;
    for (int a = 0; a <= 40; ++a) {
      for (int r = 0; r <= 40; ++r) {
        const Tolerance other{a / 20.0, r / 20.0};
        if (!IsEnough(other, points)) continue;
        EXPECT_LE(MeanOf(smallest, points), MeanOf(other, points) * (1 + 1e-9) + 1e-12) << round;
      }
    }
  }
  EXPECT_EQ(SmallestTolerance({}).atol, 0);
}

}  // namespace
}  // namespace sextant::oracle
