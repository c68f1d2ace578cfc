#include "reference/rope/rope_relayout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

std::vector<double> Rows(const std::string& rest) { return ValuesOf("rope_relayout M=1 " + rest); }

TEST(RopeRelayout, PermutesRows) {
  EXPECT_THAT(Rows("from=interleaved to=half H=1 D=6 @weight=0,1,2,3,4,5"),
              ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(Rows("from=half to=interleaved H=1 D=6 @weight=0,1,2,3,4,5"),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Rows("from=half to=half H=1 D=6 @weight=0,1,2,3,4,5"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(RopeRelayout, StaysInsideHeadAndWindow) {
  EXPECT_THAT(Rows("from=interleaved to=half H=2 D=4 @weight=0,1,2,3,4,5,6,7"),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(Rows("from=interleaved to=half H=1 D=6 R=4 offset=1 @weight=0,1,2,3,4,5"),
              ElementsAre(0, 1, 3, 2, 4, 5));
}

TEST(RopeRelayout, MovesWholeRows) {
  EXPECT_THAT(
      ValuesOf("rope_relayout from=interleaved to=half M=2 H=1 D=4 @weight=0,10,1,11,2,12,3,13"),
      ElementsAre(0, 10, 2, 12, 1, 11, 3, 13));
}

// Half pairing of permuted channels gives the permuted result of interleaved pairing.
TEST(RopeRelayout, PermutationMatchesThePairings) {
  const Proof interleaved = ProofOf("rope pairing=interleaved H=1 D=6 @x=1,2,3,4,5,6 @position=9");
  const Proof half = ProofOf("rope pairing=half H=1 D=6 @x=1,3,5,2,4,6 @position=9");
  const auto &a = interleaved.golden[0].high.data, &b = half.golden[0].high.data;
  EXPECT_THAT(b, ElementsAre(a[0], a[2], a[4], a[1], a[3], a[5]));
}

TEST(RopeRelayout, IsExact) {
  const Proof proof = ProofOf("rope_relayout from=interleaved to=half M=3 H=1 D=4");
  EXPECT_THAT(proof.golden[0].permitted.data, testing::Each(0));
}

}  // namespace
}  // namespace sextant
