#include "reference/position/alibi_slopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Press, Smith and Lewis 2021, section 3: for 8 heads 1/2, 1/4, ... 1/256.
TEST(AlibiSlopes, EightHeadsHavePowersOfTwo) {
  EXPECT_THAT(DoublesOf("alibi_slopes H=8"),
              ElementsAre(0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8));
}

// Radius 0: the value is exactly the power of two, not an interval around it.
TEST(AlibiSlopes, PowersOfTwoAreExact) {
  const GoldenTensor slope = ProofOf("alibi_slopes H=4").golden[0];
  EXPECT_THAT(slope.high.data, ElementsAre(0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8));
  EXPECT_THAT(slope.low.data, testing::Each(0));
  EXPECT_THAT(slope.radius.data, testing::Each(0));
  EXPECT_THAT(DoublesOf("alibi_slopes H=1"), ElementsAre(0x1p-8));
}

// 16 heads: the ratio of neighbouring slopes is sqrt(1/2).
TEST(AlibiSlopes, SixteenHeadsHaveAGeometricSequence) {
  const auto slope = DoublesOf("alibi_slopes H=16");
  EXPECT_EQ(slope[0], std::sqrt(0.5));
  EXPECT_EQ(slope[1], 0.5);
  EXPECT_EQ(slope[2], std::sqrt(0.125));
  EXPECT_EQ(slope[15], 0x1p-8);
}

// The eight slopes of 8 heads, then the 1st, 3rd, 5th and 7th slope of 16 heads.
TEST(AlibiSlopes, TwelveHeadsHaveTheSlopesOfEightAndEverySecondOfSixteen) {
  EXPECT_THAT(
      DoublesOf("alibi_slopes H=12"),
      ElementsAre(0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, std::sqrt(0x1p-1),
                  std::sqrt(0x1p-3), std::sqrt(0x1p-5), std::sqrt(0x1p-7)));
  EXPECT_THAT(DoublesOf("alibi_slopes H=3"), ElementsAre(0x1p-4, 0x1p-8, 0x1p-2));
}

TEST(AlibiSlopes, MaxBiasIsTheExponentOfTheSmallestSlope) {
  EXPECT_THAT(DoublesOf("alibi_slopes H=2 max_bias=4"), ElementsAre(0x1p-2, 0x1p-4));
  EXPECT_THAT(DoublesOf("alibi_slopes H=2 max_bias=0"), ElementsAre(1, 1));
  EXPECT_EQ(DoublesOf("alibi_slopes H=2 max_bias=7.5")[1], std::sqrt(0x1p-15));
  EXPECT_THAT(DoublesOf("alibi_slopes H=0"), IsEmpty());
  EXPECT_THROW(Case::Parse("alibi_slopes H=2 max_bias=-1"), Error);
}

// bf16 has 8 bits: sqrt(1/2) = 0.70710678 rounds to 181/256.
TEST(AlibiSlopes, AreF32UnlessTheCaseSaysBf16) {
  EXPECT_EQ(ValuesOf("alibi_slopes H=16 dtype=bf16")[0], static_cast<float>(std::sqrt(0.5)));
  EXPECT_EQ(ValuesOf("alibi_slopes H=16 dtype=bf16 dtype.slope=bf16")[0], 181.0 / 256);
}

}  // namespace
}  // namespace sextant
