#include "reference/layer/rms_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// mean(1, 49) = 25.
TEST(RmsNorm, DividesByTheRootMeanSquare) {
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=2 eps=0 @x=1,7 @weight=1,1"), ElementsAre(0.2, 1.4));
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=2 eps=0 @x=1,7 @weight=5,10"), ElementsAre(1, 14));
}

// Mean square 1 + eps 3 = 4.
TEST(RmsNorm, AddsEpsInsideTheRoot) {
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=4 eps=3 @x=1,-1,1,-1 @weight=1,1,1,1"),
              ElementsAre(0.5, -0.5, 0.5, -0.5));
}

TEST(RmsNorm, UnitOffsetAddsOneToTheWeight) {
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=2 eps=0 unit_offset=true @x=1,7 @weight=4,9"),
              ElementsAre(1, 14));
}

TEST(RmsNorm, RowsAreIndependent) {
  EXPECT_THAT(DoublesOf("rms_norm N=3 M=2 eps=0 @x=1,7,3,3,-2,2 @weight=1,1"),
              ElementsAre(0.2, 1.4, 1, 1, -1, 1));
}

TEST(RmsNorm, ARowOfZerosNeedsEps) {
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=2 @x=0,0 @weight=1,1"), ElementsAre(0, 0));
  EXPECT_THAT(DoublesOf("rms_norm N=1 M=2 eps=0 @x=0,0 @weight=1,1"),
              ElementsAre(testing::IsNan(), testing::IsNan()));
}

// The squares overflow in f32, or underflow in f64. The exact value is not affected; in f32 the
// permitted error is infinite.
TEST(RmsNorm, IsExactWhereSquaresOverflowOrUnderflow) {
  const GoldenTensor y = ProofOf("rms_norm N=1 M=2 eps=0 @x=0x1p100,0x7p100 @weight=1,1").golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(0.2, 1.4));
  EXPECT_THAT(y.permitted.data, testing::Each(INFINITY));
  EXPECT_THAT(DoublesOf("rms_norm dtype=f64 N=1 M=2 eps=0 @x=0x1p-1000,0x7p-1000 @weight=1,1"),
              ElementsAre(0.2, 1.4));
}

}  // namespace
}  // namespace sextant
