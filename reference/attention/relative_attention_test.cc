#include "reference/attention/relative_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

// One query of 2 at position 5, keys at 3 to 7, clip 1: rows 0, 0, 1, 2, 2.
const std::string kLine =
    "relative_attention clip=1 scale=0.5 H=1 D=1 @q=2 @k=1,2,3,4,5 @key_table=10,20,30 "
    "@query_position=5 @key_position=3,4,5,6,7 ";

TEST(RelativeAttention, ScoresAddTheRowOfTheClippedDistance) {
  EXPECT_THAT(DoublesOf(kLine + "@v=0,0,0,0,0 @value_table=0,0,0", 1),
              ElementsAre(11, 12, 23, 34, 35));
}

// The key at distance 1 has weight 1 / (1 + e), the key at distance 2 nearly the rest; both use
// row 2.
TEST(RelativeAttention, WeightsValuesAndRowsOfTheTable) {
  // The other three keys have weights of e^-11 or less.
  const double w = 1 / (1 + std::exp(1.0)), rest = 1e-4;
  EXPECT_NEAR(DoublesOf(kLine + "@v=0,0,0,8,0 @value_table=0,0,0")[0], 8 * w, rest);
  EXPECT_NEAR(DoublesOf(kLine + "@v=0,0,0,0,0 @value_table=0,0,8")[0], 8, rest);
  EXPECT_NEAR(DoublesOf(kLine + "@v=0,0,0,0,0 @value_table=8,0,0")[0], 0, rest);
}

// The default scale is D^-1/2: q.k = 4 becomes 2.
TEST(RelativeAttention, DefaultScaleIsTheInverseRootOfTheWidth) {
  const std::string line =
      "relative_attention clip=0 H=1 S=1 T=1 D=4 @q=1,1,1,1 @k=1,1,1,1 @key_table=0,0,0,0 ";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(2));
  EXPECT_THAT(DoublesOf(line + "scale=1", 1), ElementsAre(4));
}

// The only key has weight 1 for every score: y is exact, and no error is permitted.
TEST(RelativeAttention, OneKeyGivesItsValuePlusItsTableRow) {
  const GoldenTensor y = ProofOf(
                             "relative_attention clip=1 H=1 S=1 T=1 D=2 @v=0.5,-3 "
                             "@value_table=1,2,4,8,16,32 @query_position=9 @key_position=2")
                             .golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(1.5, -1));
  EXPECT_THAT(y.radius.data, ElementsAre(0, 0));
  EXPECT_THAT(y.permitted.data, ElementsAre(0, 0));
}

TEST(RelativeAttention, HeadsAndBatchesShareTheTables) {
  const std::string line =
      "relative_attention clip=1 H=2 B=2 S=1 T=1 D=1 @v=1,2,3,4 @value_table=10,20,30";
  EXPECT_THAT(DoublesOf(line), ElementsAre(21, 22, 23, 24));
}

TEST(RelativeAttention, IsUnspecifiedWithoutKeys) {
  EXPECT_THAT(DoublesOf("relative_attention clip=1 H=1 S=1 T=0 D=1"),
              ElementsAre(testing::IsNan()));
}

TEST(RelativeAttention, RefusesNegativeOrMissingClip) {
  EXPECT_THROW(Case::Parse("relative_attention clip=-1 H=1 S=1 D=1"), Error);
  EXPECT_THROW(Case::Parse("relative_attention H=1 S=1 D=1"), Error);
}

}  // namespace
}  // namespace sextant
