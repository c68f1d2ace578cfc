#include "oracle/audit/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/audit/cases_test.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const AuditOptions kAll{.all_retyped = true};

std::vector<std::string> LinesOf(const Suggestions& suggestions) {
  std::vector<std::string> lines;
  for (const Suggestion& suggestion : suggestions.cases) {
    lines.push_back(suggestion.c.ToString());
  }
  return lines;
}

// The second case alone catches both defects in each missing dtype, so only it is suggested.
TEST(Suggest, SuggestsTheFewestCasesForAMissingDType) {
  const auto cases =
      Cases({"rope pairing=half H=1 D=2 @position=3", "rope pairing=half H=1 D=2 @position=-3"});
  Audit audit = AuditSuite(cases, kAll);
  std::erase_if(audit.results, [](const TargetResult& c) {
    return c.target != "negative_position_clamped" && c.target != "rotates_backwards";
  });
  const Suggestions suggestions = Suggest(audit, cases, {.audit = kAll});
  const std::string bf16 = cases[1].With("dtype=bf16").ToString();
  EXPECT_THAT(LinesOf(suggestions), Contains(bf16));
  EXPECT_EQ(suggestions.cases.size(), 3u);  // one each of bf16, f16, f64
  EXPECT_THAT(suggestions.cases[0].closes,
              Contains("negative_position_clamped in " +
                       std::string(NameOf(suggestions.cases[0].c.dtype()))));
  EXPECT_THAT(suggestions.uncaught, IsEmpty());
}

// One row of one channel catches few defects. With the suggested random cases, more are caught.
TEST(Suggest, SuggestsRandomCasesForDefectsThatNoCaseCatches) {
  auto cases = Cases({"rms_norm N=1 M=1 @x=0 @weight=1"});
  const auto uncaught = [&] {
    std::vector<std::string> names;
    for (const TargetResult& result : AuditSuite(cases, kAll).results) {
      if (result.caught_by.empty()) names.push_back(result.target);
    }
    return names;
  };
  EXPECT_THAT(uncaught(), Contains("mean_subtracted"));
  const Suggestions suggestions =
      Suggest(AuditSuite(cases, kAll), cases, {.audit = kAll, .tries = 20});
  for (const Suggestion& suggestion : suggestions.cases) cases.push_back(suggestion.c);
  EXPECT_THAT(uncaught(), Not(Contains("mean_subtracted")));
}

// A case is shrunk only as long as it catches all defects for which it is suggested.
TEST(Suggest, SuggestedCasesCatchAllDefectsThatTheyName) {
  auto cases = Cases({"rms_norm N=1 M=1 @x=0 @weight=1"});
  const Suggestions suggestions =
      Suggest(AuditSuite(cases, kAll), cases, {.audit = kAll, .tries = 20});
  ASSERT_FALSE(suggestions.cases.empty());
  for (const Suggestion& suggestion : suggestions.cases) {
    const Audit audit = AuditSuite({suggestion.c}, kAll);
    for (const std::string& closed : suggestion.closes) {
      const auto at = std::ranges::find(audit.results, closed.substr(0, closed.find(" in ")),
                                        &TargetResult::target);
      ASSERT_NE(at, audit.results.end()) << closed;
      EXPECT_THAT(at->caught_by, Not(IsEmpty())) << closed << " by " << suggestion.c.ToString();
    }
  }
}

TEST(ShortestLine, OmitsDefaults) {
  for (const char* line :
       {"rope pairing=half H=1 S=2 D=8", "rope pairing=half H=1 D=8 dtype=bf16 @position=3",
        "rms_norm N=3 M=7 eps=0.1", "linear N=3 F=2 M=7 dtype=f16 seed=5"}) {
    const Case c = Case::Parse(line);
    EXPECT_EQ(Case::Parse(ShortestLine(c)).ToString(), c.ToString());
    EXPECT_LE(ShortestLine(c).size(), std::string(line).size());
  }
  EXPECT_EQ(ShortestLine(Case::Parse("rms_norm N=3 M=7")), "rms_norm M=7 N=3");
}

TEST(Suggest, ReportsDefectsForWhichItFoundNoCase) {
  const auto cases = Cases({"rms_norm N=1 M=1 @x=0 @weight=1"});
  const Suggestions suggestions =
      Suggest(AuditSuite(cases, kAll), cases, {.audit = kAll, .tries = 0});
  EXPECT_THAT(suggestions.uncaught, Contains("rms_norm/mean_subtracted"));
}

}  // namespace
}  // namespace sextant::oracle
