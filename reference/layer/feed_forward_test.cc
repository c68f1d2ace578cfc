#include "reference/layer/feed_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// relu(3) * 5 = 15 and relu(-3) * 7 = 0; the rows of down are (1,10) and (2,20).
TEST(FeedForward, MultipliesTheActivatedGateByUp) {
  const std::string line =
      "feed_forward kind=reglu N=1 M=2 F=2 @x=1,2 @gate=1,1,-1,-1 @up=1,2,3,2 @down=1,10,2,20";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(15, 0));
  EXPECT_THAT(DoublesOf(line, 0), ElementsAre(15, 30));
}

// glu at x = 0: sigmoid(0) * 0 = 0.
TEST(FeedForward, ZeroGivesZero) {
  EXPECT_THAT(DoublesOf("feed_forward kind=glu N=1 M=2 F=3 @x=0,0"), ElementsAre(0, 0));
}

// The gate is sigmoid(1 - 1) = 1/2, up is 1 + 3 = 4.
TEST(FeedForward, AddsABiasToEveryLayer) {
  const std::string line =
      "feed_forward with=gate_bias,up_bias,down_bias kind=glu N=1 M=1 F=1 @x=1 @gate=1 "
      "@gate_bias=-1 @up=1 @up_bias=3 @down=10 @down_bias=7";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(2));
  EXPECT_THAT(DoublesOf(line, 0), ElementsAre(27));
}

// Without the other biases the gate is sigmoid(0) = 1/2 and up is 0 + 3, or 0 and y the last bias.
TEST(FeedForward, AddsEachBiasAlone) {
  const auto y = [](const std::string& name) {
    return DoublesOf("feed_forward kind=glu N=1 M=1 F=1 @x=0 @down=10 with=" + name + " @" + name +
                     "=3");
  };
  EXPECT_THAT(y("gate_bias"), ElementsAre(0));
  EXPECT_THAT(y("up_bias"), ElementsAre(15));
  EXPECT_THAT(y("down_bias"), ElementsAre(3));
}

}  // namespace
}  // namespace sextant
