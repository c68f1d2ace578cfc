#include "oracle/tolerance/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "oracle/catalog/catalog.h"
#include "oracle/judge/judge.h"
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
  EXPECT_EQ(grade.unspecified + grade.unjudgeable, 0u);
  EXPECT_EQ(grade.may_reject, grade.elements);
  EXPECT_GT(grade.bugs.size(), 10u);
  EXPECT_EQ(Passing(grade), 0u);
}

TEST(GradeTolerance, AWideOneRejectsNothing) {
  const ToleranceGrade grade = Graded(kNorm, {1e6, 0});
  EXPECT_EQ(grade.may_reject, 0u);
  EXPECT_EQ(grade.likely_reject, 0u);
  EXPECT_FALSE(grade.has_likely);
  EXPECT_TRUE(Graded("rms_norm N=1 M=4096 dtype=bf16", {1e-3, 1e-3}).has_likely);
  const auto is_finite = [](const auto& bug) { return bug.name.find("nan") == std::string::npos; };
  EXPECT_GT(Passing(grade), static_cast<size_t>(std::ranges::count_if(grade.bugs, is_finite)) / 2);
}

// The figures are those of the permitted errors, of the exact values rounded to the dtype, and of
// the answers themselves. In f64 the rest of the exact value counts, too.
TEST(GradeTolerance, CountsWhatThePermittedErrorsSay) {
  for (const auto& [line, tolerance] :
       {std::pair(kNorm, Tolerance{1e-3, 1e-2}),
        std::pair("linear F=77 M=2 N=1 dtype=f64", Tolerance{0, 2e-15})}) {
    SCOPED_TRACE(line);
    const ToleranceGrade grade = Graded(line, tolerance);
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe("native", c.dtype());
    const ProvenAndPermitted proven = ProveAndPermit({c, inputs, recipe});
    const GoldenTensor& golden = proven.golden[0];
    size_t may_reject = 0;
    double needed = 0;
    for (size_t i = 0; i < golden.value.data.size(); ++i) {
      const double expected = golden.value.data[i], allowed = tolerance.At(expected);
      const double most = proven.permitted[0].error.data[i] +
                          std::abs((golden.high.data[i] - expected) + golden.low.data[i]);
      may_reject += most > allowed;
      needed = std::max(needed, most - tolerance.rtol * std::abs(expected));
      EXPECT_LE(most, grade.smallest.At(expected) * (1 + 0x1p-40));
    }
    EXPECT_EQ(grade.may_reject, may_reject);
    EXPECT_GT(may_reject, 0u);
    EXPECT_GE(grade.needed_atol, needed);
    EXPECT_LE(grade.needed_atol, needed * 1.1);
    EXPECT_GT(grade.worst.permitted, tolerance.At(grade.worst.expected));
    EXPECT_FALSE(grade.bugs.empty());
    const Judge judge(c, inputs, recipe);
    for (const ToleranceGrade::Bug& bug : grade.bugs) {
      if (bug.name == "zeros") continue;
      const auto hypothesis = DefectNamed(c.name(), bug.name).hypothesis(c, inputs, recipe);
      const Tensors answer =
          EvaluateByRecipe({c, hypothesis->inputs, hypothesis->recipe, *hypothesis->operation});
      bool passes = true;
      for (size_t i = 0; i < golden.value.data.size(); ++i)
        passes &= std::abs(answer[0].values.data[i] - golden.value.data[i]) <=
                  tolerance.At(golden.value.data[i]);
      EXPECT_EQ(bug.passes, passes) << bug.name;
      EXPECT_EQ(judge.Evaluate(answer).status, Verdict::Status::kFails) << bug.name;
    }
  }
}

// The right answer itself, rounded, keeps the smallest tolerance.
TEST(GradeTolerance, TheSmallestAcceptsTheRecipesOwnAnswer) {
  for (const char* const line : {kNorm, "softmax N=4 M=40 dtype=f16", "linear F=9 M=7 N=3"}) {
    const ToleranceGrade grade = Graded(line, {});
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe("native", c.dtype());
    const auto golden = Prove({c, inputs, recipe});
    const Tensors answer = EvaluateByRecipe({c, inputs, recipe});
    for (size_t i = 0; i < golden[0].value.data.size(); ++i) {
      const double expected = golden[0].value.data[i];
      EXPECT_LE(std::abs(answer[0].values.data[i] - expected), grade.smallest.At(expected));
    }
  }
}

TEST(GradeTolerance, CountsWhereAnyAnswerIsRight) {
  const ToleranceGrade grade =
      Graded("rms_norm N=2 M=2 @x=0x1p100,0x1p100,1,2 @weight=1,1", {0, 1e-3});
  EXPECT_EQ(grade.unjudgeable, 2u);
  EXPECT_EQ(grade.elements, 2u);
  EXPECT_FALSE(Graded("rms_norm N=0 M=2", {1, 1}).IsGood()) << "nothing was compared";
}

TEST(GradeTolerance, IsOfAPartWithinABudget) {
  const ScopedBudget within({.elements = 512});
  const ToleranceGrade grade = Graded("softmax N=4096 M=64", {0, 1e-6});
  ASSERT_TRUE(grade.sample);
  EXPECT_LT(grade.elements, 64u * 4096);
  EXPECT_GT(grade.elements, 0u);
  EXPECT_FALSE(grade.bugs.empty());
}

const ToleranceGrade::Bug& BugNamed(const ToleranceGrade& grade, const std::string& name) {
  const auto at = std::ranges::find(grade.bugs, name, &ToleranceGrade::Bug::name);
  if (at == grade.bugs.end()) throw std::runtime_error("no bug " + name);
  return *at;
}

// The probabilities of a long row are small beside a common atol.
TEST(GradeTolerance, SaysWhetherAKernelThatDoesNothingPasses) {
  const char* const line = "softmax N=2 M=4096 dtype=f32 @x=normal(1)";
  const ToleranceGrade grade = Graded(line, {1e-2, 1e-2});
  EXPECT_TRUE(BugNamed(grade, "zeros").passes);
  EXPECT_FALSE(BugNamed(grade, "zeros").passes_smallest);
  EXPECT_FALSE(BugNamed(Graded(line, {1e-3, 1e-2}), "zeros").passes);
}

// Bugs that show in the whole answer only are seen in a part of it, if the case is not too large.
TEST(GradeTolerance, TriesBugsOfTheWholeCaseInAPart) {
  const auto in_part = [](const std::string& line) {
    const ScopedBudget within({.elements = 512});
    return Graded(line, {0, 1e-6});
  };
  const ToleranceGrade grade = in_part("rms_norm N=512 M=64");
  ASSERT_TRUE(grade.sample);
  EXPECT_FALSE(BugNamed(grade, "mean_down_the_columns").passes);
  EXPECT_EQ(grade.not_tried, 0);
  const ToleranceGrade large = in_part("attention H=1 S=1024 T=2048 D=16");
  EXPECT_GT(large.not_tried, 0);
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
  for (const double unit : {1e-300, 1e300}) {
    const Tolerance tiny = SmallestTolerance({{1 * unit, 1e-5}, {2 * unit, 2e-5}});
    EXPECT_NEAR(tiny.rtol * unit, 1e-5, 1e-17);
    EXPECT_EQ(tiny.atol, 0);
  }
}

}  // namespace
}  // namespace sextant::oracle
