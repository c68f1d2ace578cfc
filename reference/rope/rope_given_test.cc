#include "reference/rope/rope_given.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// Base 4 and R = 4 give the frequencies 1 and 1/2.
TEST(RopeGiven, AgreesWithRopeOfTheSameFrequencies) {
  for (const std::string rest :
       {" pairing=half", " pairing=interleaved direction=transpose", " pairing=half offset=2"}) {
    const std::string line = " H=2 S=5 D=6 R=4 @position=-1,0,1,77,100000" + rest;
    const GoldenTensor given = ProofOf("rope_given @inv_freq=1,0.5" + line).golden[0];
    const GoldenTensor rope = ProofOf("rope base=4" + line).golden[0];
    EXPECT_EQ(given.high.data, rope.high.data);
    EXPECT_EQ(given.low.data, rope.low.data);
  }
}

TEST(RopeGiven, AttentionFactorScalesRotatedChannels) {
  EXPECT_THAT(
      DoublesOf(
          "rope_given pairing=half attention_factor=1.25 H=1 D=4 R=2 @x=4,8,12,16 @position=0"),
      ElementsAre(5, 10, 12, 16));
}

}  // namespace
}  // namespace sextant
