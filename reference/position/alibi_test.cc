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

TEST(Alibi, FallsWithDistance) {
  EXPECT_THAT(DoublesOf("alibi H=1 @slope=0.5 @query_position=2 @key_position=0,1,2,3"),
              ElementsAre(-1, -0.5, 0, 0.5));
  EXPECT_THAT(DoublesOf("alibi form=symmetric H=1 @slope=0.5 @query_position=2 "
                        "@key_position=0,1,2,3"),
              ElementsAre(-1, -0.5, 0, -0.5));
}

// BLOOM's: queries do not matter.
TEST(Alibi, OfKeysAloneRisesWithTheirPosition) {
  EXPECT_THAT(DoublesOf("alibi form=key H=1 @slope=0.5 @query_position=2,9 @key_position=0,1,-4"),
              ElementsAre(0, 0.5, -2, 0, 0.5, -2));
}

TEST(Alibi, HeadsHaveTheirOwnSlopes) {
  EXPECT_THAT(DoublesOf("alibi @slope=0.5,0.25 @query_position=7,8 @key_position=7"),
              ElementsAre(0, -0.5, 0, -0.25));
}

// 1.0078125 is the bf16 number above 1; f32 slopes are finer.
TEST(Alibi, SlopesMayBeOfSixteenBits) {
  const std::string rest = " dtype=f32 dtype.slope=bf16 @query_position=3 @key_position=0";
  EXPECT_THAT(DoublesOf("alibi H=1 @slope=1.0078125" + rest), ElementsAre(-3.0234375));
  const Case c = Case::Parse("alibi H=1 @slope=1.00390625" + rest);
  EXPECT_THROW(DrawInputs(c), Error);
}

// Integers far apart beyond 2^53 and beyond f32: the difference of the positions is exact, whatever
// a double makes of it.
TEST(Alibi, DistancesAreExact) {
  const GoldenTensor bias = ProofOf(
                                "alibi dtype=f64 H=1 @slope=1 @query_position=9007199254740991 "
                                "@key_position=-9007199254740990")
                                .golden[0];
  EXPECT_EQ(bias.high.data[0], -0x1p54 + 4);
  EXPECT_EQ(bias.low.data[0], -1);
}

// 2^24 + 1 is no f32 number: an f32 distance of it may be off by one, an integer one is not.
TEST(Alibi, DistanceHasItsOwnStep) {
  const std::string line = "alibi H=1 @slope=1 @query_position=16777217 @key_position=16777216";
  EXPECT_NEAR(ProofOf(line, "*=f32").golden[0].permitted.data[0], 1, 1e-6);
  EXPECT_EQ(ProofOf(line, "*=f32 distance=exact").golden[0].permitted.data[0], 0);
}

}  // namespace
}  // namespace sextant
