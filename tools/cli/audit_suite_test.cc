#include "tools/cli/audit_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three defects, each caught by two of three cases: any two cases catch all three defects, one case
// does not. `y` survives: no case catches it.
oracle::Audit Ring() {
  return {.baseline_failures = {},
          .results = {{"rope", "a", "", {0, 2}},
                      {"rope", "b", "", {0, 1}},
                      {"rope", "c", "", {1, 2}},
                      {"rope", "y", "", {}}}};
}

std::vector<Case> ThreeCases() {
  const Case c = Case::Parse("rope pairing=half D=2 H=1 S=1");
  return {c, c, c, Case::Parse("rms_norm N=1 M=1")};
}

TEST(MinimalSets, FindsTwoCasesThatCatchAllDefects) {
  const auto sets = MinimalSets(Ring(), ThreeCases());
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].Summary(),
            "rope: 2 of 3 cases catch all 3 defects that are caught; no smaller set does");
  EXPECT_THAT(sets[0].found.elements, ElementsAre(0, 1));
  EXPECT_THAT(sets[0].CaughtOnlyBy(0), ElementsAre("a"));
  EXPECT_THAT(sets[0].CaughtOnlyBy(1), ElementsAre("c"));
}

// With no steps the search stops at its first answer. No two of the sets are disjoint, so the
// proven lower bound is one case.
TEST(MinimalSets, SummarySaysThatTheSearchStoppedEarly) {
  const auto sets = MinimalSets(Ring(), ThreeCases(), 0);
  EXPECT_EQ(sets.at(0).Summary(),
            "rope: 2 of 3 cases catch all 3 defects that are caught; the search stopped early, a "
            "smaller set may exist; at least 1 case is needed");
}

TEST(MinimalSets, HasOneSetPerOperation) {
  oracle::Audit audit = Ring();
  audit.results.push_back({"rms_norm", "d", "", {3}});
  const auto sets = MinimalSets(audit, ThreeCases());
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[1].operation, "rms_norm");
  EXPECT_EQ(sets[1].cases, 1u);
  EXPECT_THAT(sets[1].found.elements, ElementsAre(3));
}

TEST(MinimalSets, IsEmptyIfTheReferenceFails) {
  EXPECT_THAT(MinimalSets({.baseline_failures = {"rope"}, .results = {}}, ThreeCases()), IsEmpty());
}

}  // namespace
}  // namespace sextant::tools
