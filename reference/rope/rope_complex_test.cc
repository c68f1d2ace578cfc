#include "reference/rope/rope_complex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// 1 times e^(2i) and i times e^i.
TEST(RopeComplex, MultipliesByEToTheIAngle) {
  EXPECT_THAT(DoublesOf("rope_complex base=4 H=1 D=4 @x=1,0,0,1 @position=2"),
              ElementsAre(std::cos(2), std::sin(2), -std::sin(1), std::cos(1)));
  EXPECT_THAT(DoublesOf("rope_complex base=4 H=1 D=4 @x=1,0,0,1 @position=2 direction=transpose"),
              ElementsAre(std::cos(2), -std::sin(2), std::sin(1), std::cos(1)));
}

TEST(RopeComplex, AgreesWithInterleavedRope) {
  for (const std::string rest :
       {"", " direction=transpose scaling=llama3", " R=4 offset=3 base=500000"}) {
    const std::string line = "rope_complex H=2 B=2 S=5 D=8 @position=random_positions" + rest;
    const GoldenTensor complex = ProofOf(line).golden[0];
    const GoldenTensor real = ProofOf("rope pairing=interleaved" + line.substr(12)).golden[0];
    EXPECT_EQ(complex.high.data, real.high.data);
    EXPECT_EQ(complex.low.data, real.low.data);
  }
}

}  // namespace
}  // namespace sextant
