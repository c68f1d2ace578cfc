#include "reference/rope/rope_rotate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// A rotation by 90 degrees: y_i = -x_j, y_j = x_i.
const std::string kRightAngle = "rope_rotate H=1 S=1 D=4 @cos=0,0 @sin=1,1 @x=1,2,3,4 pairing=";

TEST(RopeRotate, PairsHalvesOrNeighbours) {
  EXPECT_THAT(ValuesOf(kRightAngle + "half"), ElementsAre(-3, -4, 1, 2));
  EXPECT_THAT(ValuesOf(kRightAngle + "interleaved"), ElementsAre(-2, 1, -4, 3));
}

TEST(RopeRotate, TransposeRotatesBack) {
  EXPECT_THAT(ValuesOf(kRightAngle + "half direction=transpose"), ElementsAre(3, 4, -1, -2));
  EXPECT_THAT(ValuesOf(kRightAngle + "interleaved direction=transpose"), ElementsAre(2, -1, 4, -3));
}

// (1, 0) and (0, 1) times 3 + 4i: a rotation with amplitude 5.
TEST(RopeRotate, MultipliesByTheTable) {
  EXPECT_THAT(ValuesOf("rope_rotate pairing=half H=1 S=2 D=2 @cos=3 @sin=4 @x=1,0,0,1"),
              ElementsAre(3, 4, -4, 3));
}

TEST(RopeRotate, RotatesOnlyTheWindow) {
  const std::string line =
      "rope_rotate H=1 S=1 D=6 R=4 @cos=0,0 @sin=1,1 @x=1,2,3,4,5,6 pairing=half offset=";
  EXPECT_THAT(ValuesOf(line + "0"), ElementsAre(-3, -4, 1, 2, 5, 6));
  EXPECT_THAT(ValuesOf(line + "1"), ElementsAre(1, -4, -5, 2, 3, 6));
  EXPECT_THAT(ValuesOf(line + "2"), ElementsAre(1, 2, -5, -6, 3, 4));
}

TEST(RopeRotate, TablesArePerPositionAndSharedByHeads) {
  EXPECT_THAT(ValuesOf("rope_rotate pairing=half B=1 H=2 S=2 D=2 R=2 @x=1,2,3,4,5,6,7,8 "
                       "@cos=0,1 @sin=1,0"),
              ElementsAre(-2, 1, 3, 4, -6, 5, 7, 8));
}

}  // namespace
}  // namespace sextant
