#include "oracle/profile/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Grouping GroupsIn(const std::string& line, const std::string& by) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  return GroupsOf({c, c.info().signature.outputs[0], &inputs}, by);
}

TEST(GroupsOf, GroupsByPositionPairHeadAndRow) {
  const std::string line = "rope pairing=half H=2 S=2 D=4 @position=7,3";
  const Grouping position = GroupsIn(line, "position");
  EXPECT_EQ(position.axis, "position");
  EXPECT_THAT(position.keys, ElementsAre(3, 7));
  EXPECT_THAT(position.group, ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0));
  EXPECT_THAT(GroupsIn("rope pairing=half H=1 S=1 D=6 R=4 @position=7", "pair").group,
              ElementsAre(0, 1, 0, 1, Grouping::kNone, Grouping::kNone));
  EXPECT_THAT(GroupsIn("rope pairing=half H=2 S=1 D=2 @position=7", "head").group,
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(GroupsIn("rms_norm N=2 M=2", "row").group, ElementsAre(0, 0, 1, 1));
}

// Query 0 sees one key, query 1 two.
TEST(GroupsOf, GroupsByTheNumberOfVisibleKeys) {
  const Grouping grouping = GroupsIn("attention mask=causal H=1 S=2 D=1", "key_length");
  EXPECT_THAT(grouping.keys, ElementsAre(1, 2));
  EXPECT_THAT(grouping.group, ElementsAre(0, 1));
}

TEST(GroupsOf, GroupsByTheBinadeOfTheArgument) {
  const Grouping grouping = GroupsIn("activation kind=relu N=1 @x=-3,1,0.25,2", "argument");
  EXPECT_THAT(grouping.keys, ElementsAre(-2, 0, 1));
  EXPECT_THAT(grouping.group, ElementsAre(2, 1, 0, 2));
}

TEST(UsualGroups, AreThoseOfTheOperation) {
  const auto usual = [](const std::string& line) {
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    return UsualGroups({c, c.info().signature.outputs[0], &inputs});
  };
  EXPECT_EQ(usual("rope pairing=half H=1 S=1 D=2"), "position");
  EXPECT_EQ(usual("attention H=1 S=1 D=1"), "key_length");
  EXPECT_EQ(usual("rms_norm N=1 M=2"), "argument");
  EXPECT_EQ(usual("linear N=1 F=2 M=3"), "row");
}

TEST(GroupsOf, NamesTheGroupsThatExist) {
  EXPECT_THAT(MessageOf([] { GroupsIn("rms_norm N=2 M=2", "pair"); }),
              HasSubstr("no groups by 'pair'; there are: row argument N M"));
}

}  // namespace
}  // namespace sextant::oracle
