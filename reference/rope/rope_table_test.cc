#include "reference/rope/rope_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(RopeTable, IsCosAndSinOfPositionTimesFrequency) {
  const std::string line = "rope_table @position=2,-4 @inv_freq=1,0.5";
  EXPECT_THAT(DoublesOf(line, 0), ElementsAre(std::cos(2), std::cos(1), std::cos(4), std::cos(2)));
  EXPECT_THAT(DoublesOf(line, 1),
              ElementsAre(std::sin(2), std::sin(1), -std::sin(4), -std::sin(2)));
}

TEST(RopeTable, AttentionFactorScalesCosAndSin) {
  EXPECT_THAT(DoublesOf("rope_table attention_factor=1.25 R=4 @position=0", 0),
              ElementsAre(1.25, 1.25));
  EXPECT_THAT(DoublesOf("rope_table attention_factor=1.25 R=4 @position=0", 1), ElementsAre(0, 0));
  EXPECT_THAT(DoublesOf("rope_table attention_factor=2 @inv_freq=1 @position=1", 1),
              ElementsAre(2 * std::sin(1)));
}

TEST(RopeTable, EachBatchHasItsOwnPositions) {
  EXPECT_THAT(DoublesOf("rope_table B=2 S=1 @inv_freq=1 @position=0,1", 1),
              ElementsAre(0, std::sin(1)));
}

// 2^40 radians are 174990217541.74... rotations.
TEST(RopeTable, LargePositionsAreReducedExactly) {
  EXPECT_THAT(DoublesOf("rope_table @inv_freq=1 @position=0x1p40", 1),
              ElementsAre(std::sin(0x1p40)));
  EXPECT_THAT(DoublesOf("rope_table @inv_freq=1 @position=0x1p53", 0),
              ElementsAre(std::cos(0x1p53)));
}

}  // namespace
}  // namespace sextant
