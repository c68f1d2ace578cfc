#include "tools/api/judge_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tools/api/subjects.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;
using oracle::Verdict;
using testing::ElementsAreArray;

std::vector<Selected> Cases(const std::vector<std::string>& lines) {
  std::vector<Selected> cases;
  for (const std::string& line : lines) cases.push_back({Case::Parse(line), "", {}});
  return cases;
}

// Small cases, a large one between them, and more than are judged at once.
std::vector<std::string> Lines() {
  std::vector<std::string> lines;
  for (int i = 0; i < 150; ++i)
    lines.push_back("rms_norm N=1 M=" + std::to_string(i == 20 ? 40000 : 8) +
                    " seed=" + std::to_string(i));
  return lines;
}

Subject Fast() { return MakeSubject("fast", 1); }

TEST(JudgeCases, TakesTheVerdictsInOrder) {
  const std::vector<Selected> cases = Cases(Lines());
  std::vector<std::string> expected, taken;
  for (const Selected& selected : cases) expected.push_back(selected.c.ToString());
  for (const bool side_by_side : {false, true}) {
    taken.clear();
    const Subject subject = Fast();
    JudgeCases({cases, subject, {.recipe = "native", .prove = {}}, side_by_side},
               [&](const Verdict& verdict) {
                 EXPECT_EQ(verdict.status, Verdict::Status::kConforms);
                 taken.push_back(verdict.case_line);
                 return true;
               });
    EXPECT_THAT(taken, ElementsAreArray(expected));
  }
}

// A large answer that fails is asked for again while it is judged, and only once more.
TEST(JudgeCases, AsksAgainWhatFails) {
  const std::vector<Selected> cases = Cases({"softmax N=256 M=1024"});
  const Subject right = oracle::RecipeSubject("native");
  for (const double factor : {1.0, 1.5}) {
    std::atomic<int> asked = 0;
    Subject subject = right;
    subject.may_vary = true;
    subject.answer = [&](const Case& c, const Tensors& inputs) {
      ++asked;
      Answer answer = right.answer(c, inputs);
      for (double& y : answer.outputs[0].values.data) y *= factor;
      return answer;
    };
    JudgeCases({cases, subject, {.recipe = "native", .prove = {}}, false}, [&](const Verdict& one) {
      EXPECT_EQ(one.status == Verdict::Status::kFails, factor != 1);
      return true;
    });
    EXPECT_EQ(asked, factor == 1 ? 1 : 2);
  }
}

TEST(JudgeCases, StopsWhenTheVerdictIsNotTaken) {
  const std::vector<Selected> cases = Cases(Lines());
  const Subject subject = Fast();
  size_t taken = 0;
  JudgeCases({cases, subject, {.recipe = "native", .prove = {}}, true},
             [&](const Verdict&) { return ++taken < 5; });
  EXPECT_EQ(taken, 5u);
}

// The verdicts of the earlier cases are taken first.
TEST(JudgeCases, ThrowsWhatACaseThrows) {
  const std::vector<Selected> cases = Cases(Lines());
  Subject subject = Fast();
  subject.answer = [answer = subject.answer](const Case& c, const Tensors& inputs) {
    if (c.seed() == 7) throw Error("no answer");
    return answer(c, inputs);
  };
  size_t taken = 0;
  EXPECT_THROW(JudgeCases({cases, subject, {.recipe = "native", .prove = {}}, true},
                          [&](const Verdict&) { return ++taken > 0; }),
               Error);
  EXPECT_EQ(taken, 7u);
}

// A subject in another process answers one case after another.
TEST(JudgeCases, AsksOtherSubjectsOneAtATime) {
  const std::vector<Selected> cases = Cases(Lines());
  Subject subject = Fast();
  std::atomic<int> running = 0;
  subject.answer = [&, answer = subject.answer](const Case& c, const Tensors& inputs) {
    EXPECT_EQ(++running, 1);
    const Answer given = answer(c, inputs);
    --running;
    return given;
  };
  JudgeCases({cases, subject, {.recipe = "native", .prove = {}}, false},
             [](const Verdict&) { return true; });
  EXPECT_FALSE(IsInProcess("exec:./mine"));
  EXPECT_FALSE(IsInProcess("lib:mine.so"));
  EXPECT_TRUE(IsInProcess("fast"));
}

}  // namespace
}  // namespace sextant::tools
