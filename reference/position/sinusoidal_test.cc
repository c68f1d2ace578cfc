#include "reference/position/sinusoidal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// Base 4 and M = 4 give the frequencies 1 and 1/2.
TEST(Sinusoidal, OrdersSinesAndCosinesByLayout) {
  const double s2 = std::sin(2), c2 = std::cos(2), s1 = std::sin(1), c1 = std::cos(1);
  EXPECT_THAT(DoublesOf("sinusoidal base=4 M=4 @position=2"), ElementsAre(s2, c2, s1, c1));
  EXPECT_THAT(DoublesOf("sinusoidal base=4 M=4 layout=concatenated @position=2"),
              ElementsAre(s2, s1, c2, c1));
}

TEST(Sinusoidal, PositionZeroIsZeroAndOne) {
  EXPECT_THAT(DoublesOf("sinusoidal M=6 @position=0"), ElementsAre(0, 1, 0, 1, 0, 1));
}

// M = 6: the paper's exponents are 0, 1/3, 2/3; tensor2tensor's 0, 1/2, 1.
TEST(Sinusoidal, SupportsBothDenominators) {
  EXPECT_THAT(
      DoublesOf("sinusoidal base=4 M=6 denominator=tensor2tensor layout=concatenated @position=4"),
      ElementsAre(std::sin(4), std::sin(2), std::sin(1), std::cos(4), std::cos(2), std::cos(1)));
  EXPECT_THAT(
      DoublesOf("sinusoidal base=8 M=6 layout=concatenated @position=4"),
      ElementsAre(std::sin(4), std::sin(2), std::sin(1), std::cos(4), std::cos(2), std::cos(1)));
  // One pair: max(M/2 - 1, 1) avoids a division by zero.
  EXPECT_THAT(DoublesOf("sinusoidal M=2 denominator=tensor2tensor @position=1"),
              ElementsAre(std::sin(1), std::cos(1)));
}

TEST(Sinusoidal, HasOneRowPerPosition) {
  EXPECT_THAT(DoublesOf("sinusoidal M=2 @position=0,-1"),
              ElementsAre(0, 1, -std::sin(1), std::cos(1)));
}

}  // namespace
}  // namespace sextant
