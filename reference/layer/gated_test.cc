#include "reference/layer/gated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

double Swish(double x, double beta = 1) { return x / (1 + std::exp(-beta * x)); }

TEST(Gated, ActivatesTheFirstInput) {
  EXPECT_THAT(DoublesOf("gated N=1 F=1 dtype=f64 @gate=2 @up=-3"),
              ElementsAre(DoubleEq(-3 * Swish(2))));
  EXPECT_THAT(DoublesOf("gated kind=glu N=1 F=2 dtype=f64 @gate=0,0 @up=6,-4"), ElementsAre(3, -2));
  EXPECT_THAT(DoublesOf("gated kind=reglu N=1 F=2 dtype=f64 @gate=5,-5 @up=2,2"),
              ElementsAre(10, 0));
}

// gpt-oss: the gate is at most 7 and has no lower limit; up is clamped to -7..7, then 1 is added.
TEST(Gated, LimitsTheGateAboveAndUpOnBothSides) {
  const std::string line = "gated alpha=1.702 limit=7 plus_one=true N=1 F=3 dtype=f64 ";
  EXPECT_THAT(DoublesOf(line + "@gate=100,-20,3 @up=100,-100,2"),
              ElementsAre(DoubleEq(8 * Swish(7, 1.702)), DoubleEq(-6 * Swish(-20, 1.702)),
                          DoubleEq(3 * Swish(3, 1.702))));
}

TEST(Gated, AlphaIsBeta) {
  EXPECT_EQ(DoublesOf("gated alpha=2 N=2 F=3"), DoublesOf("gated beta=2 N=2 F=3"));
}

// Hugging Face rounds the activated gate, here 0.731, to bf16 before it multiplies.
TEST(Gated, NativeRecipeRoundsTheActivatedGateToTheDtype) {
  const std::string line = "gated N=1 F=1 dtype=bf16 @gate=1 @up=3";
  const double native = ProofOf(line).golden[0].permitted.data[0];
  const double wide = ProofOf(line, "f32_compute").golden[0].permitted.data[0];
  // wide: half an ulp of 2.19; native: three times half an ulp of 0.73 in addition.
  EXPECT_NEAR(wide, 0x1p-7, 0x1p-17);
  EXPECT_NEAR(native, 0x1p-7 + 3 * 0x1p-9, 0x1p-17);
}

TEST(Gated, RefusesContradictoryAttributes) {
  const auto refuses = [](const std::string& line, const std::string& why) {
    EXPECT_THAT([&] { Case::Parse("gated N=1 F=1 " + line); },
                testing::ThrowsMessage<Error>(HasSubstr(why)));
  };
  refuses("kind=glu beta=2", "beta is 2, but kind=glu has none");
  refuses("kind=reglu alpha=2", "alpha is 2, but kind=reglu has none");
  refuses("alpha=2 beta=3", "expected beta=1");
  refuses("limit=0", "limit is 0, expected more than 0");
}

}  // namespace
}  // namespace sextant
