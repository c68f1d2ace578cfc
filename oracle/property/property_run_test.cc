#include "oracle/property/property_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/check_properties.h"
#include "oracle/catalog/defect_subject.h"
#include "reference/case/draw.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using Status = PropertyVerdict::Status;
using testing::HasSubstr;

PropertyVerdict VerdictOn(const std::string& operation, const std::string& property,
                          const Subject& subject, int count = 100) {
  const auto verdicts =
      CheckProperties(*MakeOperationNamed(operation), subject, subject.recipe, {.count = count});
  return *std::ranges::find(verdicts, property, &PropertyVerdict::name);
}

// The comparisons of a property for a subject in one case.
Comparisons Find(const std::string& operation, const std::string& property, const Subject& subject,
                 const Case& c) {
  const Ask ask = [&](const Case& question, const Tensors& inputs) {
    const Recipe recipe = ParseRecipe(subject.recipe, question.dtype());
    return Response{subject.answer(question, inputs).outputs,
                    PermittedErrors({question, inputs, recipe}), recipe};
  };
  const auto& properties = CatalogEntryOf(operation).properties;
  return std::ranges::find(properties, property, &Property::name)->check(c, DrawInputs(c), ask);
}

Response One(double value, double permitted) {
  const Tensor<double> bound({1}, {permitted});
  return {{{"y", DType::kF32, Tensor<double>({1}, {value})}},
          {{"y", DType::kF32, bound, bound, {false}}}};
}

TEST(Comparisons, HoldUpToThePermittedError) {
  const Response y = One(1, 0.25);
  Comparisons comparisons;
  EXPECT_TRUE(comparisons.Hold());
  EXPECT_EQ(comparisons.count(), 0u);
  comparisons.Equal(y(0, 0), 1.25, {y, 0, 0});
  EXPECT_TRUE(comparisons.Hold());
  comparisons.Equal(y(0, 0), 1.5, {y, 0, 0});
  EXPECT_FALSE(comparisons.Hold());
  EXPECT_EQ(comparisons.count(), 2u);
  EXPECT_THAT(comparisons.Worst(), testing::StartsWith("y[0]: off by 0.5, rounding explains 0.25"));
}

TEST(Comparisons, AtMostIsOneSided) {
  const Response y = One(1, 0.25);
  Comparisons comparisons;
  comparisons.AtMost(y(0, 0), 5, {y, 0, 0});
  comparisons.AtMost(y(0, 0), 0.75, {y, 0, 0});
  EXPECT_TRUE(comparisons.Hold());
  comparisons.AtMost(y(0, 0), 0.5, {y, 0, 0});
  EXPECT_FALSE(comparisons.Hold());
}

TEST(Comparisons, NaNIsTheWorstError) {
  const Response nan = One(NAN, 0.25), far = One(1e6, 0.25), lost = One(NAN, INFINITY);
  Comparisons comparisons;
  comparisons.Equal(nan(0, 0), 1, {nan, 0, 0});
  comparisons.Equal(far(0, 0), 1, {far, 0, 0});
  EXPECT_FALSE(comparisons.Hold());
  EXPECT_THAT(comparisons.Worst(), HasSubstr("nan"));
  Comparisons one_sided;
  one_sided.AtMost(nan(0, 0), 1, {nan, 0, 0});
  EXPECT_FALSE(one_sided.Hold());
  Comparisons of_lost;
  of_lost.Equal(lost(0, 0), 1, {lost, 0, 0});
  EXPECT_TRUE(of_lost.Hold());
}

// The bug shows in the simplest case, so the counterexample is shrunk to it.
TEST(CheckProperties, ShrinksTheCounterexampleToTheSimplestCase) {
  const Subject subject = DefectSubject("rope/rotates_backwards");
  const std::string property = "rotates_from_first_to_second";
  const PropertyVerdict verdict = VerdictOn("rope", property, subject);
  ASSERT_EQ(verdict.status, Status::kBroken);
  const Case simplest =
      Case::Parse("rope pairing=half B=1 H=1 S=1 D=4 R=4 dtype=f32 seed=1 @position=sequence");
  EXPECT_EQ(verdict.counterexample, simplest.ToString());
  EXPECT_THAT(verdict.detail, HasSubstr("y[0,0,0,2]: off by"));
  EXPECT_FALSE(Find("rope", property, subject, Case::Parse(verdict.counterexample)).Hold());
  EXPECT_TRUE(Find("rope", property, RecipeSubject("native"), simplest).Hold());
}

// Shifted keys already have their amplitude; the defect applies it again.
TEST(RopeShift, PropertyFindsARepeatedAmplitudeWithEveryScaling) {
  const Subject correct = RecipeSubject("native"),
                amplified = DefectSubject("rope_shift/amplitude_again");
  for (const char* scaling :
       {"none", "yarn(factor=4,original_max_position_embeddings=4096)",
        "longrope(short_factor=[1,2],long_factor=[1,8],original_max_position_embeddings=4096,"
        "factor=32)",
        "explicit(inv_freq=[1,0.5],attention_factor=1.5)"}) {
    const Case c = Case::Parse(
        std::string("rope_shift pairing=half B=1 K=1 T=2 D=4 dtype=f32 seed=1 scaling=") + scaling);
    EXPECT_TRUE(Find("rope_shift", "as_rotated_anew", correct, c).Hold()) << scaling;
    EXPECT_FALSE(Find("rope_shift", "as_rotated_anew", amplified, c).Hold()) << scaling;
  }
}

TEST(CheckProperties, TheSeedRepeatsTheRun) {
  const Subject subject = DefectSubject("rms_norm/mean_of_first_row");
  const auto operation = MakeOperationNamed("rms_norm");
  const auto run = [&](uint64_t seed) {
    std::string text;
    for (const auto& v :
         CheckProperties(*operation, subject, "native", {.seed = seed, .count = 20})) {
      text += v.name + v.counterexample + v.detail + std::to_string(v.cases) + "\n";
    }
    return text;
  };
  EXPECT_EQ(run(3), run(3));
  // Counterexamples are shrunk, so several seeds may have equal results, but not all.
  std::set<std::string> results;
  for (uint64_t seed = 3; seed < 9; ++seed) results.insert(run(seed));
  EXPECT_GT(results.size(), 1u);
}

TEST(CheckProperties, OptionalOutputsMayBeMissing) {
  const Subject silent{"silent", "native", [](const Case& c, const Tensors& inputs) {
                         Answer answer = RecipeSubject("native").answer(c, inputs);
                         EXPECT_EQ(answer.outputs.back().name, "scores");
                         answer.outputs.pop_back();
                         return answer;
                       }};
  for (const auto& v : CheckProperties(*MakeOperationNamed("relative_attention"), silent, "native",
                                       {.count = 10})) {
    const bool of_scores = v.name == "scores_add_up" || v.name == "scaled";
    EXPECT_EQ(v.status, of_scores ? Status::kDeclined : Status::kHolds) << v.name;
  }
}

TEST(CheckProperties, ReportsDeclinedCasesAndCrashes) {
  const Subject declines{"declines", "native", [](const Case&, const Tensors&) {
                           return Answer{Answer::Status::kUnsupported, "not today", {}};
                         }};
  PropertyVerdict verdict = VerdictOn("rms_norm", "odd", declines, 10);
  EXPECT_EQ(verdict.status, Status::kDeclined);
  EXPECT_EQ(verdict.declined, 100u);  // the limit is ten per requested case
  EXPECT_THAT(verdict.detail, HasSubstr("not today"));
  const Subject crashes{"crashes", "native", [](const Case&, const Tensors&) {
                          return Answer{Answer::Status::kFailed, "killed by SIGSEGV", {}};
                        }};
  verdict = VerdictOn("rms_norm", "odd", crashes, 10);
  EXPECT_EQ(verdict.status, Status::kCouldNotRun);
  EXPECT_EQ(verdict.detail, "killed by SIGSEGV");
  EXPECT_NO_THROW(Case::Parse(verdict.counterexample));
}

// The subject crashes after its first wrong answer, so it crashes during shrinking. Its first
// answers are right, so that the counterexample is not the simplest case.
TEST(CheckProperties, ACrashWhileShrinkingDoesNotHideTheCounterexample) {
  bool wrong = false;
  int answers = 0;
  const Subject fragile{"fragile", "native", [&](const Case& c, const Tensors& inputs) {
                          if (++answers < 50) return RecipeSubject("native").answer(c, inputs);
                          if (wrong)
                            return Answer{Answer::Status::kFailed, "killed by SIGSEGV", {}};
                          const Answer answer =
                              DefectSubject("rope/rotates_backwards").answer(c, inputs);
                          const Answer right = RecipeSubject("native").answer(c, inputs);
                          wrong = answer.outputs[0].values.data != right.outputs[0].values.data;
                          return answer;
                        }};
  const std::string property = "rotates_from_first_to_second";
  const auto verdicts = CheckProperties(*MakeOperationNamed("rope"), fragile, "native",
                                        {.count = 100, .only = {property}});
  const PropertyVerdict& verdict = verdicts.at(0);
  EXPECT_EQ(verdict.status, Status::kBroken);
  EXPECT_FALSE(Find("rope", property, DefectSubject("rope/rotates_backwards"),
                    Case::Parse(verdict.counterexample))
                   .Hold());
  EXPECT_THAT(verdict.detail, HasSubstr("off by"));
  EXPECT_THAT(verdict.detail, HasSubstr("could not be run: killed by SIGSEGV"));
}

TEST(CheckProperties, TooFewAnsweredCasesCountAsDeclined) {
  std::string only;
  const Subject once{"once", "native", [&only](const Case& c, const Tensors& inputs) {
                       if (only.empty()) only = c.ToString();
                       if (c.ToString() == only) return RecipeSubject("native").answer(c, inputs);
                       return Answer{Answer::Status::kUnsupported, "not today", {}};
                     }};
  const auto verdicts = CheckProperties(*MakeOperationNamed("rms_norm"), once, "native",
                                        {.count = 20, .only = {"odd"}});
  EXPECT_EQ(verdicts.at(0).status, Status::kDeclined);
  EXPECT_THAT(verdicts.at(0).detail, testing::ContainsRegex("answered only [0-9]+ of 20 cases"));
  EXPECT_THAT(verdicts.at(0).detail, HasSubstr("not today"));
}

TEST(CheckProperties, DoesNotRepeatDeclinedCases) {
  std::multiset<std::pair<std::string, double>> questions;
  const Subject declines{"declines", "native", [&questions](const Case& c, const Tensors& inputs) {
                           double first = 0;
                           for (const NamedTensor& input : inputs) {
                             if (!input.values.data.empty()) first += input.values.data[0];
                           }
                           questions.insert({c.ToString(), first});
                           return Answer{Answer::Status::kUnsupported, "not today", {}};
                         }};
  size_t declined = 0;
  for (const auto& v :
       CheckProperties(*MakeOperationNamed("rms_norm"), declines, "native", {.count = 10})) {
    declined += v.declined;
  }
  EXPECT_GT(declined, questions.size());
  for (const auto& question : questions) {
    EXPECT_EQ(questions.count(question), 1U) << question.first;
  }
}

// batch_invariance computes the last slice alone, because remainders of loops are at the end.
TEST(CheckProperties, BatchInvarianceFindsALostLastRow) {
  const Subject correct = RecipeSubject("native");
  const Subject loses{"last row lost", "native", [&](const Case& c, const Tensors& inputs) {
                        Answer answer = correct.answer(c, inputs);
                        std::vector<double>& y = answer.outputs[0].values.data;
                        const auto width = static_cast<size_t>(c.dimensions().at("M"));
                        if (y.size() > width) std::fill(y.end() - width, y.end(), 0);
                        return answer;
                      }};
  EXPECT_EQ(VerdictOn("rms_norm", "batch_invariance", correct).status, Status::kHolds);
  EXPECT_EQ(VerdictOn("rms_norm", "batch_invariance", loses).status, Status::kBroken);
}

TEST(CheckProperties, ReplacesDeclinedCases) {
  const Subject only_f32{"only f32", "native", [](const Case& c, const Tensors& inputs) {
                           if (c.dtype() == DType::kF32)
                             return RecipeSubject("native").answer(c, inputs);
                           return Answer{Answer::Status::kUnsupported, "only f32", {}};
                         }};
  const PropertyVerdict verdict = VerdictOn("rms_norm", "odd", only_f32, 40);
  EXPECT_EQ(verdict.status, Status::kHolds);
  EXPECT_EQ(verdict.cases, 40u);
  EXPECT_GT(verdict.declined, 0u);
}

}  // namespace
}  // namespace sextant::oracle
