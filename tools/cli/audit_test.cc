#include "tools/cli/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three defects, each caught by two of three cases in a ring: any two cases catch all, one does
// not. `y` survives; it is nobody's.
oracle::Audit Ring() {
  return {.dishonest = {},
          .results = {{"rope", "a", "", {0, 2}},
                      {"rope", "b", "", {0, 1}},
                      {"rope", "c", "", {1, 2}},
                      {"rope", "y", "", {}}}};
}

std::vector<Case> ThreeCases() {
  const Case c = Case::Parse("rope pairing=half D=2 H=1 S=1");
  return {c, c, c, Case::Parse("rms_norm N=1 M=1")};
}

TEST(MinimalSets, SaysHowFewCasesCatchAll) {
  const auto sets = MinimalSets(Ring(), ThreeCases());
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].Summary(),
            "rope: 2 of 3 cases catch all 3 defects that are caught, no fewer do");
  EXPECT_THAT(sets[0].found.elements, ElementsAre(0, 1));
  EXPECT_THAT(sets[0].OnlyBy(0), ElementsAre("a"));
  EXPECT_THAT(sets[0].OnlyBy(1), ElementsAre("c"));
}

// Without a step the search stops at its first answer; that no two of the sets are disjoint proves
// only that one case is needed.
TEST(MinimalSets, SaysSoWhenTheSearchWasGivenUp) {
  const auto sets = MinimalSets(Ring(), ThreeCases(), 0);
  EXPECT_EQ(sets.at(0).Summary(),
            "rope: 2 of 3 cases catch all 3 defects that are caught, perhaps fewer do: the search "
            "was given up, at least 1 are needed");
}

TEST(MinimalSets, AreOnePerOperation) {
  oracle::Audit audit = Ring();
  audit.results.push_back({"rms_norm", "d", "", {3}});
  const auto sets = MinimalSets(audit, ThreeCases());
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[1].operation, "rms_norm");
  EXPECT_EQ(sets[1].cases, 1u);
  EXPECT_THAT(sets[1].found.elements, ElementsAre(3));
}

TEST(MinimalSets, AreNoneWhereNothingIsScored) {
  EXPECT_THAT(MinimalSets({.dishonest = {"rope"}, .results = {}}, ThreeCases()), IsEmpty());
}

}  // namespace
}  // namespace sextant::tools
