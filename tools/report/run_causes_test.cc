#include "tools/report/run_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Cause;
using oracle::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A failing case of the operation with so many failing elements, in 100 rows if there are as many.
Verdict Failing(const std::string& operation, size_t elements, std::vector<Cause> causes) {
  Verdict verdict;
  verdict.case_line = operation + " N=1 M=4";
  verdict.status = Verdict::Status::kFails;
  verdict.grade = oracle::Grade::kFails;
  oracle::TensorVerdict& y = verdict.tensors.emplace_back();
  y.elements = y.judged = y.failed = elements;
  const auto rows = static_cast<int64_t>(std::min<size_t>(elements, 100));
  for (const char* axis : {"N", "M"}) y.failing.push_back({axis, "", 0, {{1, rows}}});
  verdict.causes = std::move(causes);
  return verdict;
}

Report ReportWith(std::vector<Verdict> verdicts) {
  return {.subject = "fast", .recipe = "native", .verdicts = std::move(verdicts)};
}

std::vector<RunCause> CausesIn(std::vector<Verdict> verdicts) {
  return CausesOf(ReportWith(std::move(verdicts))).at(0).causes;
}

TEST(RunCauses, WhatExplainsMostComesFirstAndIsTakenOut) {
  const Report report = ReportWith({Failing("rope", 1000, {{"a", "first"}}),
                                    Failing("rope", 5000, {{"a", "second"}, {"b", "other"}}),
                                    Failing("rope", 1000, {{"b", "other"}, {"c", "last", true}}),
                                    Failing("rope", 9000, {{"c", "last", true}}),
                                    Failing("rope", 70000, {{"a", "third"}})});
  const OperationCauses rope = CausesOf(report).at(0);
  EXPECT_EQ(rope.operation, "rope");
  EXPECT_EQ(rope.failing, 5);
  EXPECT_EQ(rope.unexplained, 0);
  ASSERT_EQ(rope.causes.size(), 2) << "b explains nothing that a and c do not";
  EXPECT_EQ(rope.causes[0].cause.name, "a");
  EXPECT_EQ(rope.causes[0].cause.why, "third") << "as the case says it in which most fails";
  EXPECT_EQ(rope.causes[0].cases, 3);
  EXPECT_EQ(rope.causes[1].cause.name, "c");
  EXPECT_EQ(rope.causes[1].new_cases, 2);
  std::ostringstream out;
  PrintSummary(report, out);
  EXPECT_THAT(out.str(), HasSubstr("3 of 5 failing cases: likely cause defect:rope/a (third)\n"
                                   "2 others: likely cause rope/c (last)\n"));
}

TEST(RunCauses, AFewElementsSupportNothingBesideACauseOfMany) {
  const Report report =
      ReportWith({Failing("rope", 1000, {{"a", "why"}}), Failing("rope", 3, {{"accident", "why"}}),
                  Failing("rope", 1000, {{"a", "why"}}), Failing("rope", 1000, {{"a", "why"}})});
  const OperationCauses rope = CausesOf(report).at(0);
  ASSERT_EQ(rope.causes.size(), 1);
  EXPECT_FALSE(rope.causes[0].only_possible);
  EXPECT_EQ(rope.unexplained, 1);
  std::ostringstream out;
  PrintSummary(report, out);
  EXPECT_THAT(out.str(), HasSubstr("\n1 other: none of these, see -v\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("accident")));
}

std::vector<std::string> NamesIn(const Verdict& verdict) {
  std::vector<std::string> names;
  for (const Cause& cause : verdict.causes) names.push_back(cause.name);
  return names;
}

TEST(RunCauses, ACaseKeepsOnlyTheCausesOfTheRun) {
  Report report = ReportWith(
      {Failing("rope", 1000, {{"a", "why"}, {"b", "why"}}), Failing("rope", 1000, {{"a", "why"}}),
       Failing("rope", 3, {{"accident", "why"}}), Failing("softmax", 1000, {{"accident", "why"}}),
       Failing("rope", 1000, {{"a", "why"}})});
  const auto verdicts = VerdictsOf(report);
  EXPECT_THAT(NamesIn(verdicts[0]), ElementsAre("a"));
  EXPECT_THAT(NamesIn(verdicts[1]), ElementsAre("a"));
  EXPECT_THAT(NamesIn(verdicts[2]), IsEmpty());
  EXPECT_THAT(NamesIn(verdicts[3]), ElementsAre("accident")) << "of another operation";
}

TEST(RunCauses, ACaseThatIsAloneSaysAllItself) {
  Report report = ReportWith({Failing("rope", 1000, {{"a", "why"}, {"b", "why"}})});
  EXPECT_THAT(NamesIn(VerdictsOf(report)[0]), ElementsAre("a", "b"));
  EXPECT_THAT(CauseLinesOf(report), IsEmpty());
  const auto printed = [&report] {
    std::ostringstream out;
    PrintVerdict(report, report.verdicts[0], {out});
    return out.str();
  };
  EXPECT_THAT(printed(), HasSubstr("  likely cause: a (why)\n"));
  report.not_reached = 1;
  EXPECT_THAT(printed(), Not(HasSubstr("cause")));
  EXPECT_THAT(CauseLinesOf(report),
              ElementsAre("1 of 1 failing case: likely cause defect:rope/a (why)",
                          "1 of 1 failing case: likely cause defect:rope/b (why)"));
}

TEST(RunCauses, OfFewFailingCasesEachIsExplained) {
  const auto causes =
      CausesIn({Failing("rope", 200, {{"a", "why"}}), Failing("rope", 200, {{"b", "why"}})});
  ASSERT_EQ(causes.size(), 2);
  EXPECT_TRUE(causes[0].only_possible);
  EXPECT_TRUE(causes[1].only_possible);
}

TEST(RunCauses, TheFirstOfFewElementsIsOnlyPossible) {
  const auto causes = CausesIn({Failing("rope", 3, {{"a", "why"}}), Failing("rope", 2, {})});
  ASSERT_EQ(causes.size(), 1);
  EXPECT_TRUE(causes[0].only_possible);
  EXPECT_THAT(CausesIn({Failing("rope", 1000, {})}), IsEmpty());
}

// The index in the batch is the index in the sequence if there is one sequence.
TEST(RunCauses, WhatRefutesADefectComesBeforeIt) {
  std::vector<Verdict> verdicts(9, Failing("rope", 70000, {{"counted_from_zero", "why"}}));
  for (size_t i = 0; i < 3; ++i)
    verdicts.push_back(Failing("rope", 70000, {{"index_in_batch", "why", true}}));
  auto causes = CausesIn(verdicts);
  ASSERT_EQ(causes.size(), 2);
  EXPECT_EQ(causes[0].cause.name, "index_in_batch");
  EXPECT_EQ(causes[1].new_cases, 9);
  for (Verdict& verdict : verdicts) verdict.causes[0].is_measured = true;
  EXPECT_EQ(CausesIn(verdicts)[0].cause.name, "counted_from_zero") << "both are tried alike";
  for (size_t i : {9, 10, 11}) verdicts[i].causes[0].name += std::to_string(i);
  for (size_t i = 0; i < 9; ++i) verdicts[i].causes[0].is_measured = false;
  EXPECT_EQ(CausesIn(verdicts)[0].cause.name, "counted_from_zero") << "three accidents";
  for (size_t i : {9, 10, 11}) verdicts[i].causes[0].name = "index_in_batch";
  verdicts.insert(verdicts.begin(), 9, Failing("rope", 70000, {{"counted_from_zero", "why"}}));
  EXPECT_EQ(CausesIn(verdicts)[0].cause.name, "counted_from_zero") << "three of 21 are too few";
}

TEST(RunCauses, WhatConformingCasesSpeakAgainstComesLast) {
  Report report = ReportWith({Failing("rope", 70000, {{"refuted", "why"}}),
                              Failing("rope", 70000, {{"refuted", "why"}}),
                              Failing("rope", 70000, {{"other", "why"}})});
  EXPECT_EQ(CausesOf(report)[0].causes[0].cause.name, "refuted");
  report.refuting["rope/refuted"] = 1;
  EXPECT_EQ(CausesOf(report)[0].causes[0].cause.name, "refuted") << "a case may have its own path";
  report.refuting["rope/refuted"] = 7;
  const auto causes = CausesOf(report)[0].causes;
  EXPECT_EQ(causes[0].cause.name, "other");
  EXPECT_TRUE(causes[1].only_possible);
  std::ostringstream out;
  PrintSummary(report, out);
  EXPECT_THAT(out.str(),
              HasSubstr("2 others: possible cause defect:rope/refuted (why); 7 conforming cases "
                        "would fail by it\n"));
}

TEST(RunCauses, ADefectThatExplainsAllFailuresIsLikelyAlthoughOthersConform) {
  Report report =
      ReportWith({Failing("rope", 70000, {{"a", "why"}}), Failing("rope", 70000, {{"a", "why"}})});
  report.refuting["rope/a"] = 9;  // the defect is in a path of its own
  EXPECT_FALSE(CausesOf(report)[0].causes[0].only_possible);
  EXPECT_EQ(CausesOf(report)[0].causes[0].refuting, 9);
}

TEST(RunCauses, APlaceIsSaidAfterAllNames) {
  std::vector<Verdict> verdicts(4, Failing("rope", 70000, {{"wrong_in_range", "why", true}}));
  EXPECT_EQ(CausesIn(verdicts)[0].cause.name, "wrong_in_range");
  verdicts.push_back(Failing("rope", 70000, {{"ramp", "why", true}}));
  EXPECT_EQ(CausesIn(verdicts)[0].cause.name, "ramp");
}

TEST(RunCauses, WhatExplainsLessThanItLeavesIsOnlyPossible) {
  std::vector<Verdict> verdicts(3, Failing("rope", 70000, {{"a", "why"}}));
  for (size_t i = 0; i < 3; ++i) verdicts.push_back(Failing("rope", 70000, {}));
  EXPECT_FALSE(CausesIn(verdicts)[0].only_possible);
  verdicts.push_back(Failing("rope", 70000, {}));
  EXPECT_TRUE(CausesIn(verdicts)[0].only_possible);
}

TEST(RunCauses, ARowTellsLittle) {
  Verdict row = Failing("rope", 1000, {{"a", "why"}});
  row.tensors[0].failing[0].ranges = {{7, 7}};
  EXPECT_EQ(MostFailingRows(row.tensors[0]), 1);
  EXPECT_TRUE(CausesIn({row, row})[0].only_possible);
  EXPECT_FALSE(CausesIn({row, row, row})[0].only_possible);
}

TEST(RunCauses, TwoDeviationsAtOnceMustExplainMoreThanOne) {
  const Cause pair{"b+c", "why"}, beside{"d", "why; together with e", true, true},
      alone{"a", "why"};
  for (const Cause& two : {pair, beside}) {
    const Verdict failing = Failing("rope", 1000, {two, alone});
    const auto causes = CausesIn({failing, failing});
    ASSERT_EQ(causes.size(), 1) << two.name;
    EXPECT_EQ(causes[0].cause.name, "a");
  }
}

TEST(RunCauses, EachOperationHasItsOwn) {
  Verdict conforming;
  conforming.case_line = "gated N=1";
  conforming.grade = oracle::Grade::kExact;
  const auto causes = CausesOf(ReportWith({Failing("softmax", 1000, {{"a", "why"}}),
                                           Failing("rope", 1000, {{"a", "why"}}), conforming}));
  ASSERT_EQ(causes.size(), 2);
  for (const size_t i : {0u, 1u}) {
    EXPECT_EQ(causes[i].operation, i == 0 ? "rope" : "softmax");
    EXPECT_EQ(causes[i].failing, 1);
    EXPECT_EQ(causes[i].causes.at(0).cause.name, "a");
  }
}

}  // namespace
}  // namespace sextant::tools
