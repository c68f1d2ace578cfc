#include "oracle/defect/coverage_goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "oracle/catalog/defect_subject.h"
#include "oracle/subject/subject.h"
#include "reference/case/draw.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const CoverageGoal& GoalNamed(const std::string& operation, const std::string& name) {
  const auto& goals = CoverageGoalsOf(std::string_view(operation));
  const auto at = std::ranges::find(goals, name, &CoverageGoal::name);
  if (at == goals.end()) throw Error("no coverage goal ", name);
  return *at;
}

std::vector<std::string> NamesOfGoals(const std::string& operation) {
  std::vector<std::string> names;
  for (const CoverageGoal& goal : CoverageGoalsOf(std::string_view(operation)))
    names.push_back(goal.name);
  return names;
}

// The wrong answers of a goal, made from the answer 1, 2, 3 ...
struct Lost {
  Lost(const std::string& line, const std::string& goal) : c(Case::Parse(line)) {
    inputs = DrawInputs(c);
    correct = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())});
    std::vector<double>& y = correct[0].values.data;
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i) + 1;
    for (const Tensors& lost : GoalNamed(c.name(), goal).losses(c, inputs, correct)) {
      answers.push_back(lost[0].values.data);
    }
  }
  Case c;
  Tensors inputs, correct;
  std::vector<std::vector<double>> answers;
};

TEST(CoverageGoals, OfLongRowsLoseTheLastVector) {
  const Lost lost("rms_norm N=2 M=134 unit_offset=true dtype=f64",
                  "M>=72,dtype=f64,unit_offset=true");
  ASSERT_THAT(lost.answers, SizeIs(1));
  const auto& y = lost.answers[0];
  EXPECT_EQ(y[127], 128);
  EXPECT_EQ(y[128], 0);
  EXPECT_EQ(y[133], 0);
  EXPECT_EQ(y[134], 135);  // the second row begins
  EXPECT_EQ(y[134 + 128], 0);
}

// A pair need not be covered in every dtype; one condition beside the length must be.
TEST(CoverageGoals, WithTwoConditionsBesideTheLengthArePairs) {
  EXPECT_TRUE(GoalNamed("rope", "R>=72,dtype=bf16,pairing=half").is_pair);
  EXPECT_FALSE(GoalNamed("rope", "R>=72,pairing=half").is_pair);
}

TEST(CoverageGoals, LoseAWholeVectorIfThereIsNoRemainder) {
  const Lost lost("rms_norm N=1 M=144 dtype=f64", "M>=72,dtype=f64,M%16=0");
  ASSERT_THAT(lost.answers, SizeIs(1));
  EXPECT_EQ(lost.answers[0][127], 128);
  EXPECT_EQ(lost.answers[0][128], 0);
}

TEST(CoverageGoals, WithOneConditionReplaceTheEndByTheInput) {
  const Lost lost("rms_norm N=1 M=134 dtype=f64", "M>=72,dtype=f64");
  ASSERT_THAT(lost.answers, SizeIs(1));
  EXPECT_EQ(lost.answers[0][127], 128);
  EXPECT_EQ(lost.answers[0][128], lost.inputs[0].values.data[128]);
}

TEST(CoverageGoals, DoNotApplyToOtherCases) {
  const std::string goal = "M>=72,dtype=f64,unit_offset=true";
  EXPECT_THAT(Lost("rms_norm N=1 M=71 unit_offset=true dtype=f64", goal).answers, IsEmpty());
  EXPECT_THAT(Lost("rms_norm N=1 M=134 unit_offset=true dtype=f32", goal).answers, IsEmpty());
  EXPECT_THAT(Lost("rms_norm N=1 M=134 unit_offset=false dtype=f64", goal).answers, IsEmpty());
}

TEST(CoverageGoals, OfManySlicesLoseTheSeventeenthOrTakeTheFirst) {
  const Lost lost("rope pairing=half B=17 H=2 S=1 D=2 dtype=f32", "B>=17");
  ASSERT_THAT(lost.answers, SizeIs(2));
  const auto end_of = [](const std::vector<double>& y) {
    return std::vector(y.end() - 5, y.end());
  };
  EXPECT_THAT(end_of(lost.answers[0]), ElementsAre(64, 0, 0, 0, 0));
  EXPECT_THAT(end_of(lost.answers[1]), ElementsAre(64, 1, 2, 3, 4));
}

// 0: no minimum extent is required.
TEST(LongExtent, FollowsFromTheSignature) {
  const auto of = [](const char* operation, const char* letter) {
    return LongExtent(letter, MakeOperationNamed(operation)->info());
  };
  EXPECT_EQ(of("rope", "D"), 72);
  EXPECT_EQ(of("rope", "R"), 72);
  EXPECT_EQ(of("rope", "S"), 17);
  EXPECT_EQ(of("rope_matrix", "D"), 24);
  EXPECT_EQ(of("rope_sections", "A"), 0);
  EXPECT_EQ(of("rope_relayout", "H"), 0);
  EXPECT_EQ(of("rope_relayout", "M"), 72);
  EXPECT_EQ(of("attention", "T"), 72);
  EXPECT_EQ(of("attention", "H"), 17);
  EXPECT_EQ(of("attention", "K"), 0);
  EXPECT_EQ(of("rms_norm", "eps"), 0);
}

// An attribute without a list of values has two conditions: the default, and any other value.
TEST(CoverageGoals, AreGeneratedFromTheDeclaration) {
  const auto names = NamesOfGoals("rope");
  EXPECT_THAT(names, Contains("R>=72,dtype=bf16,pairing=interleaved"));
  EXPECT_THAT(names, Contains("D>=72,direction=transpose,D%16!=0"));
  EXPECT_THAT(names, Contains("R>=72,base!=10000,offset=0"));
  EXPECT_THAT(names, Contains("R>=72,scaling=none,direction=forward"));
  EXPECT_THAT(names, Contains("S>=17"));
  EXPECT_THAT(names, Not(Contains("S>=17,dtype=f16")));
}

// Only swiglu has beta, and alpha is another name for it.
TEST(CoverageGoals, OmitConditionsThatExcludeEachOther) {
  const auto names = NamesOfGoals("gated");
  EXPECT_THAT(names, Contains("F>=72,kind=swiglu,beta!=1"));
  EXPECT_THAT(names, Contains("F>=72,kind=glu,beta=1"));
  EXPECT_THAT(names, Not(Contains("F>=72,kind=glu,beta!=1")));
  EXPECT_THAT(names, Not(Contains("F>=72,beta!=1,alpha!=")));
}

TEST(CoverageGoals, HaveUniqueNamesInEveryOperation) {
  for (const auto& operation : AllOperations()) {
    const auto names = NamesOfGoals(std::string(operation->info().name));
    const OperationInfo& info = operation->info();
    const bool composite = info.slices.empty() && info.Marks(Step::kKeep);
    EXPECT_EQ(names.empty(), composite) << info.name;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size())
        << operation->info().name;
  }
}

TEST(CoverageGoals, CanBeSubjects) {
  const Subject subject = DefectSubject("rms_norm/M>=72,dtype=f32,unit_offset=true");
  const auto ends_in_zero = [&](const std::string& line) {
    const Case c = Case::Parse(line);
    return subject.answer(c, DrawInputs(c)).outputs[0].values.data.back() == 0;
  };
  EXPECT_TRUE(ends_in_zero("rms_norm N=1 M=134 unit_offset=true dtype=f32"));
  EXPECT_FALSE(ends_in_zero("rms_norm N=1 M=134 unit_offset=false dtype=f32"));
  EXPECT_FALSE(ends_in_zero("rope pairing=half H=1 S=1 D=134 dtype=f32"));
}

}  // namespace
}  // namespace sextant::oracle
