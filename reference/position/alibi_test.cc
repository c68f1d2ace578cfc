#include "reference/position/alibi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(Alibi, DecreasesWithDistance) {
  EXPECT_THAT(DoublesOf("alibi H=1 @slope=0.5 @query_position=2 @key_position=0,1,2,3"),
              ElementsAre(-1, -0.5, 0, 0.5));
  EXPECT_THAT(DoublesOf("alibi form=symmetric H=1 @slope=0.5 @query_position=2 "
                        "@key_position=0,1,2,3"),
              ElementsAre(-1, -0.5, 0, -0.5));
}

// BLOOM's form: the bias does not depend on the query position.
TEST(Alibi, FormKeyIncreasesWithTheKeyPosition) {
  EXPECT_THAT(DoublesOf("alibi form=key H=1 @slope=0.5 @query_position=2,9 @key_position=0,1,-4"),
              ElementsAre(0, 0.5, -2, 0, 0.5, -2));
}

TEST(Alibi, HeadsHaveTheirOwnSlopes) {
  EXPECT_THAT(DoublesOf("alibi @slope=0.5,0.25 @query_position=7,8 @key_position=7"),
              ElementsAre(0, -0.5, 0, -0.25));
}

// 1.0078125 is the next bf16 number above 1; 1.00390625 is not a bf16 number.
TEST(Alibi, SlopesMayBeBf16) {
  const std::string rest = " dtype=f32 dtype.slope=bf16 @query_position=3 @key_position=0";
  EXPECT_THAT(DoublesOf("alibi H=1 @slope=1.0078125" + rest), ElementsAre(-3.0234375));
  const Case c = Case::Parse("alibi H=1 @slope=1.00390625" + rest);
  EXPECT_THROW(DrawInputs(c), Error);
}

// The difference of the positions is 2^54 - 3, which is not a double; it is exact nevertheless.
TEST(Alibi, DistancesAreExact) {
  const GoldenTensor bias = ProofOf(
                                "alibi dtype=f64 H=1 @slope=1 @query_position=9007199254740991 "
                                "@key_position=-9007199254740990")
                                .golden[0];
  EXPECT_EQ(bias.high.data[0], -0x1p54 + 4);
  EXPECT_EQ(bias.low.data[0], -1);
}

// 2^24 + 1 is not an f32 number: a distance computed in f32 has an error of up to 1, a distance of
// integers has none.
TEST(Alibi, RecipeDecidesWhetherTheDistanceRounds) {
  const std::string line = "alibi H=1 @slope=1 @query_position=16777217 @key_position=16777216";
  EXPECT_NEAR(ProofOf(line, "*=f32").golden[0].permitted.data[0], 1, 1e-6);
  EXPECT_EQ(ProofOf(line, "*=f32 distance=exact").golden[0].permitted.data[0], 0);
}

}  // namespace
}  // namespace sextant
