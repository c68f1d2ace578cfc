#include "reference/layer/linear_bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(LinearBias, AddsOneBiasToEachColumn) {
  EXPECT_THAT(DoublesOf("linear_bias N=2 M=3 F=2 @x=1,2,3,4,5,6 @weight=1,0,-1,2,2,2 @bias=10,20"),
              ElementsAre(8, 32, 8, 50));
}

TEST(LinearBias, EqualsTheBiasForMZero) {
  EXPECT_THAT(DoublesOf("linear_bias N=2 M=0 F=2 @bias=10,20"), ElementsAre(10, 20, 10, 20));
}

// With 16-bit dtypes, the dot product and the bias are added in f32, so the low bits of the dot
// product 4160.25 survive until -4096 is added.
TEST(LinearBias, AddsBeforeItRoundsTo16Bits) {
  const Proof proof =
      ProofOf("linear_bias N=1 M=1 F=1 dtype=bf16 @x=0x1.02p6 @weight=0x1.02p6 @bias=-4096");
  const double exact = 0x1.02p6 * 0x1.02p6 - 4096;  // 64.25
  EXPECT_EQ(proof.golden[0].high.data[0], exact);
  EXPECT_LT(proof.golden[0].permitted.data[0], 0.26);  // little more than half an ulp
}

}  // namespace
}  // namespace sextant
