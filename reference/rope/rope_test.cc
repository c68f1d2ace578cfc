#include "reference/rope/rope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(Rope, IsTheIdentityAtPositionZero) {
  EXPECT_THAT(DoublesOf("rope pairing=half H=1 D=4 @x=1,2,3,4 @position=0"),
              ElementsAre(1, 2, 3, 4));
}

TEST(Rope, RotatesEachPairByItsAngle) {
  EXPECT_THAT(DoublesOf("rope pairing=half base=4 H=1 D=4 @x=1,1,0,0 @position=2"),
              ElementsAre(std::cos(2), std::cos(1), std::sin(2), std::sin(1)));
  EXPECT_THAT(DoublesOf("rope pairing=interleaved base=4 H=1 D=4 @x=1,0,1,0 @position=2"),
              ElementsAre(std::cos(2), std::sin(2), std::cos(1), std::sin(1)));
}

// R(-p) = R(p)^T for every scaling.
TEST(Rope, NegativePositionIsTheTranspose) {
  for (const std::string scaling : {"none", "linear(factor=8)", "llama3"}) {
    const std::string line = "rope pairing=half H=2 S=1 D=32 scaling=" + scaling;
    EXPECT_EQ(DoublesOf(line + " @position=-12345"),
              DoublesOf(line + " @position=12345 direction=transpose"));
    EXPECT_NE(DoublesOf(line + " @position=-12345"), DoublesOf(line + " @position=12345"));
  }
}

TEST(Rope, LinearScalingDividesPositions) {
  EXPECT_EQ(DoublesOf("rope pairing=half H=1 D=16 scaling=linear(factor=4) @position=20"),
            DoublesOf("rope pairing=half H=1 D=16 @position=5"));
}

TEST(Rope, PreservesTheLengthOfEachPair) {
  const Proof proof = ProofOf("rope pairing=interleaved H=3 S=4 D=8 @position=hard");
  const auto &x = proof.inputs[0].values.data, &y = proof.golden[0].high.data;
  for (size_t i = 0; i < x.size(); i += 2) {
    EXPECT_NEAR(std::hypot(y[i], y[i + 1]), std::hypot(x[i], x[i + 1]),
                0x1p-51 * std::hypot(x[i], x[i + 1]));
  }
}

}  // namespace
}  // namespace sextant
