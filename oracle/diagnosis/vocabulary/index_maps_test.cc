#include "oracle/diagnosis/vocabulary/index_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(IndexMaps, SayWhatIndicesActAs) {
  EXPECT_EQ(kClamped.Sentence("positions", 32767), "positions above 32767 act as 32767");
  EXPECT_EQ(kShifted.Sentence("tokens", 3), "tokens have 3 added");
  EXPECT_EQ(kShifted.Sentence("tokens", -0.5), "tokens have -0.5 added");
  EXPECT_EQ(kMultiplied.Sentence("distances", -1), "distances are multiplied by -1");
}

// A number that explains some indices is one of those that are found in them.
TEST(IndexMaps, FindTheNumberInWhatIsSeen) {
  struct Row {
    const IndexMap& map;
    double number;
  };
  for (const auto& [map, number] : {Row{kShifted, -17},
                                    {kClamped, 12345},
                                    {kClampedBelow, 1200},
                                    {kConstant, 42},
                                    {kSubtracted, 9000},
                                    {kWrapped, 96},
                                    {kDivided, 7}}) {
    std::vector<ActingIndex> wrong;
    for (const double right : {1001.0, 1109.0, 20007.0, 65535.0})
      if (map.of(right, number) != right) wrong.push_back({right, map.of(right, number)});
    ASSERT_FALSE(wrong.empty()) << map.name;
    EXPECT_THAT(map.fitted(wrong), Contains(number)) << map.name;
  }
}

TEST(IndexMaps, FindAllDivisorsThatAreNotExcluded) {
  EXPECT_THAT(kDivided.fitted({{100, 6}}), ElementsAre(16, 15));
  EXPECT_THAT(kDivided.fitted({{100, 6}, {75, 5}}), ElementsAre(15));
  EXPECT_THAT(kDivided.fitted({{100, 6}, {75, 2}}), IsEmpty());
  EXPECT_THAT(kDivided.fitted({{100, 0}}), ElementsAre(101));
  EXPECT_THAT(kWrapped.fitted({{100, 4}, {70, 6}}), ElementsAre(32, 16, 8, 4, 2));
}

TEST(IndexMaps, OfNegativeIndicesRoundDownAndUp) {
  EXPECT_EQ(kWrapped.of(-1, 16), 15);
  EXPECT_EQ(kDivided.of(-1, 2), -1);
  EXPECT_EQ(kRoundedDown.of(-1, 8), -8);
  EXPECT_EQ(kRoundedUp.of(-9, 8), -8);
  EXPECT_EQ(kCutToBits.of(-257, 8), -256);
  EXPECT_EQ(kClampedBeyond.of(-9, 4), -4);
}

// The first numbers are those that are tried in pairs of deviations.
TEST(IndexMaps, BeginWithLikelyNumbers) {
  EXPECT_EQ(kWrapped.usual({})[0], 32768);
  EXPECT_EQ(kShifted.usual({})[0], 1);
  EXPECT_EQ(kRoundedDown.usual({})[0], 2);
  EXPECT_EQ(kRoundedToBits.usual({})[0], 8);
  EXPECT_THAT(kClamped.usual({77, 1234}), Contains(1234));
  EXPECT_THAT(kShifted.usual({77, 1234}), Contains(-77));
}

}  // namespace
}  // namespace sextant::oracle
