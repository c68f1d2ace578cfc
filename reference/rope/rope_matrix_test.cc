#include "reference/rope/rope_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(RopeMatrix, IsBlockDiagonal) {
  const double c = std::cos(2), s = std::sin(2), d = std::cos(1), t = std::sin(1);
  EXPECT_THAT(DoublesOf("rope_matrix pairing=interleaved base=4 D=4 @position=2"),
              ElementsAre(c, -s, 0, 0, s, c, 0, 0, 0, 0, d, -t, 0, 0, t, d));
  EXPECT_THAT(DoublesOf("rope_matrix pairing=half base=4 D=4 @position=2"),
              ElementsAre(c, 0, -s, 0, 0, d, 0, -t, s, 0, c, 0, 0, t, 0, d));
}

// Column j is rope of the unit vector j.
TEST(RopeMatrix, TimesAVectorIsRope) {
  for (const std::string pairing : {"half", "interleaved"}) {
    const auto matrix =
        ProofOf("rope_matrix D=6 @position=777 scaling=llama3 pairing=" + pairing).golden[0];
    const auto columns =
        ProofOf("rope H=6 D=6 @x=one_hot @position=777 scaling=llama3 pairing=" + pairing)
            .golden[0];
    for (size_t i = 0; i < 6; ++i) {
      for (size_t j = 0; j < 6; ++j) {
        EXPECT_EQ(matrix.high(0u, i, j), columns.high(0u, j, 0u, i)) << i << " " << j;
        EXPECT_EQ(matrix.low(0u, i, j), columns.low(0u, j, 0u, i));
      }
    }
  }
}

}  // namespace
}  // namespace sextant
