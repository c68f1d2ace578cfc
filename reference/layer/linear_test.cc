#include "reference/layer/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

// Rows (1,2,3) and (4,5,6) of x with rows (1,0,-1), (2,2,2) of the weight.
TEST(Linear, ComputesDotProductsOfRows) {
  EXPECT_THAT(DoublesOf("linear N=2 M=3 F=2 @x=1,2,3,4,5,6 @weight=1,0,-1,2,2,2"),
              ElementsAre(-2, 12, -2, 30));
}

// Rows of x with rows, not columns, of the weight: 1 * 1 + 2 * 2, and 1 * 3 + 2 * 4.
TEST(Linear, DoesNotTransposeASquareWeight) {
  EXPECT_THAT(DoublesOf("linear N=1 M=2 F=2 @x=1,2 @weight=1,2,3,4"), ElementsAre(5, 11));
}

// 2^100 - 2^100 + 1: a sum in f32 loses the 1.
TEST(Linear, IsExactWhereEverythingCancels) {
  const GoldenTensor y =
      ProofOf("linear N=1 M=3 F=1 @x=0x1p60,0x1p60,1 @weight=0x1p40,-0x1p40,1").golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(1));
  EXPECT_THAT(y.low.data, ElementsAre(0));
  EXPECT_GT(y.permitted.data[0], 0x1p76);
  EXPECT_LT(y.permitted.data[0], 0x1p79);
}

TEST(Linear, IsZeroForMZero) {
  EXPECT_THAT(DoublesOf("linear N=2 M=0 F=3"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(ProofOf("linear N=2 M=0 F=3").golden[0].permitted.data, Each(0));
}

// One product in f32 is rounded once. The sum of three products has two rounded additions as well.
TEST(Linear, PermitsTheRoundingsOfProductsAndSums) {
  const auto permitted = [](const char* line) { return ProofOf(line).golden[0].permitted.data[0]; };
  EXPECT_NEAR(permitted("linear N=1 M=1 F=1 @x=0x1.000002p0 @weight=0x1.800006p0"), 0x1p-24, 1e-14);
  const double three = permitted("linear N=1 M=3 F=1 @x=0x1.2p0,0x1.2p0,0x1.2p0 @weight=1,1,1");
  EXPECT_NEAR(three, 2 * 0x1p-24 * 3 * 1.125, 1e-13);
}

// Exactly the rows that contain a NaN or an infinity are unspecified.
TEST(Linear, RowsAreIndependent) {
  const Proof proof = ProofOf("linear N=8 M=2 F=3 @x=nonfinite");
  const auto &x = proof.inputs[0].values.data, &y = proof.golden[0].high.data;
  size_t unspecified = 0;
  for (size_t n = 0; n < 8; ++n) {
    const bool finite = std::isfinite(x[2 * n]) && std::isfinite(x[2 * n + 1]);
    for (size_t f = 0; f < 3; ++f) EXPECT_EQ(std::isfinite(y[3 * n + f]), finite) << n;
    unspecified += !finite;
  }
  EXPECT_GT(unspecified, 0u);
  EXPECT_LT(unspecified, 8u);
}

// 2^1000 + 2^-1000 - 2^1000 needs 2001 bits.
TEST(Linear, IsExactForTermsOfVeryDifferentMagnitude) {
  const GoldenTensor y = ProofOf(
                             "linear N=1 M=3 F=1 dtype=f64 "
                             "@x=0x1p+500,0x1p-500,0x1p+500 @weight=0x1p+500,0x1p-500,-0x1p+500")
                             .golden[0];
  EXPECT_THAT(y.value.data, ElementsAre(0x1p-1000));
  EXPECT_THAT(y.high.data, ElementsAre(0x1p-1000));
  EXPECT_THAT(y.low.data, ElementsAre(0));
  EXPECT_THAT(y.radius.data, ElementsAre(0));
}

TEST(Linear, AddsOneBiasToEachColumn) {
  EXPECT_THAT(
      DoublesOf("linear with=bias N=2 M=3 F=2 @x=1,2,3,4,5,6 @weight=1,0,-1,2,2,2 @bias=10,20"),
      ElementsAre(8, 32, 8, 50));
}

TEST(Linear, EqualsTheBiasForMZero) {
  EXPECT_THAT(DoublesOf("linear with=bias N=2 M=0 F=2 @bias=10,20"), ElementsAre(10, 20, 10, 20));
}

// With 16-bit dtypes, the dot product and the bias are added in f32, so the low bits of the dot
// product 4160.25 survive until -4096 is added.
TEST(Linear, AddsTheBiasBeforeItRoundsTo16Bits) {
  const Proof proof =
      ProofOf("linear with=bias N=1 M=1 F=1 dtype=bf16 @x=0x1.02p6 @weight=0x1.02p6 @bias=-4096");
  const double exact = 0x1.02p6 * 0x1.02p6 - 4096;  // 64.25
  EXPECT_EQ(proof.golden[0].high.data[0], exact);
  EXPECT_LT(proof.golden[0].permitted.data[0], 0.26);  // little more than half an ulp
}

}  // namespace
}  // namespace sextant
