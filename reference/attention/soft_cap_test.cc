#include "reference/attention/soft_cap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SoftCap, IsCapTimesTanhOfXOverCap) {
  EXPECT_THAT(DoublesOf("soft_cap cap=50 N=1 M=3 dtype=f64 @x=0,25,-100"),
              ElementsAre(0, DoubleEq(50 * std::tanh(0.5)), DoubleEq(-50 * std::tanh(2))));
  EXPECT_THAT(DoublesOf("soft_cap cap=30 N=1 M=2 dtype=f64 @x=1e-9,1e9"), ElementsAre(1e-9, 30));
}

TEST(SoftCap, RoundsToTheCapForLargeX) {
  const GoldenTensor y = ProofOf("soft_cap cap=4 N=1 M=1 dtype=f64 @x=1e300").golden[0];
  EXPECT_EQ(y.value.data[0], 4);
  EXPECT_EQ(y.radius.data[0], 0);
}

// Two correct f32 implementations: division by the cap, and multiplication by its rounded
// reciprocal.
TEST(SoftCap, PermitsADivisionAndAReciprocal) {
  const Proof proof = ProofOf("soft_cap cap=50 N=40 M=25 dtype=f32");
  const GoldenTensor& y = proof.golden[0];
  for (size_t i = 0; i < y.value.data.size(); ++i) {
    const auto x = static_cast<float>(proof.inputs[0].values.data[i]);
    for (const float t : {x / 50.0f, x * (1 / 50.0f)}) {
      EXPECT_LE(std::abs(50 * std::tanh(t) - y.high.data[i]), y.permitted.data[i]);
    }
    EXPECT_LE(y.permitted.data[i], 12 * UlpOf(DType::kF32, y.high.data[i]));
  }
}

TEST(SoftCap, RefusesCapZero) {
  EXPECT_THAT([] { Case::Parse("soft_cap cap=0 N=1 M=1"); },
              testing::ThrowsMessage<Error>(HasSubstr("cap is 0, expected more than 0")));
}

}  // namespace
}  // namespace sextant
