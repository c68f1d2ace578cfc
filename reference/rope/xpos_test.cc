#include "reference/rope/xpos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

// With gamma = 1 and R = 4, z_0 = 1/2 and z_1 = 3/4.
TEST(Xpos, IntegerPowersAreExact) {
  const std::string line = "xpos pairing=half gamma=1 scale_base=8 H=1 D=4 dtype=f64 @x=4,4,0,8 ";
  EXPECT_THAT(DoublesOf(line + "role=query center=-8 @position=0"), ElementsAre(2, 3, 0, 6));
  EXPECT_THAT(DoublesOf(line + "role=query center=8 @position=0"),
              ElementsAre(8, DoubleEq(16. / 3), 0, DoubleEq(32. / 3)));
  EXPECT_THAT(DoublesOf(line + "role=key center=-16 @position=0"),
              ElementsAre(16, DoubleEq(64. / 9), 0, DoubleEq(128. / 9)));
}

// 129/128 * 3/4 = 387/512 is the midpoint of two bf16 numbers: no interval around it decides the
// rounding.
TEST(Xpos, RoundsTiesOfIntegerPowersToEven) {
  const GoldenTensor y = ProofOf(
                             "xpos pairing=half role=query gamma=1 center=-512 H=1 D=4 "
                             "dtype=bf16 @position=0 @x=0,0x1.02p+0,0,0")
                             .golden[0];
  EXPECT_EQ(y.value.data[1], 388. / 512);
  EXPECT_EQ(y.radius.data[1], 0);
}

// 64 channels: z_0 = 0.4 / 1.4 and z_31 = (62/64 + 0.4) / 1.4.
TEST(Xpos, HasTheDefaultGammaOfTorchscale) {
  const auto y = DoublesOf(
      "xpos pairing=interleaved role=query H=1 D=64 dtype=f64 center=-512 "
      "@position=0 @x=1..64");
  EXPECT_DOUBLE_EQ(y[0], 2. / 7);
  EXPECT_NEAR(y[63] / 64, 0.977679, 5e-7);
}

TEST(Xpos, IsRopeAtTheCenter) {
  const std::string shared = " pairing=half H=1 S=1 D=8 R=6 offset=1 @position=-77 ";
  const std::string numbers = "@x=1,-2,3,0.5,5,-6,7,8";
  for (const std::string role : {"query", "key"}) {
    EXPECT_EQ(DoublesOf("xpos role=" + role + " center=-77" + shared + numbers),
              DoublesOf("rope" + shared + numbers));
  }
}

// 65536 tokens from the center, the factor of pair 0 is 2^-231 for queries, which underflows in
// f32, and 2^231 for keys, which overflows.
TEST(Xpos, UnderflowsForQueriesAndOverflowsForKeys) {
  const std::string line = " pairing=half H=1 D=4 R=2 dtype=f32 @position=65536 @x=1,1,1,1";
  const GoldenTensor query = ProofOf("xpos role=query" + line).golden[0];
  EXPECT_EQ(query.value.data[0], 0);
  EXPECT_NE(query.high.data[0], 0);
  EXPECT_LE(query.permitted.data[0], 0x1p-140);
  const GoldenTensor key = ProofOf("xpos role=key" + line).golden[0];
  EXPECT_EQ(std::abs(key.value.data[0]), INFINITY);
  EXPECT_EQ(key.permitted.data[0], INFINITY);
  EXPECT_EQ(key.permitted.data[2], 0);  // outside the window
}

// 2^40 tokens from the center, the exponents exceed MPFR's default exponent range.
TEST(Xpos, IsProvenFarFromTheCenter) {
  for (const std::string role : {"query", "key"}) {
    const GoldenTensor y = ProofOf(
                               "xpos pairing=half H=1 D=2 dtype=f64 @position=0x1p40,-0x1p40 "
                               "@x=1,1 role=" +
                               role)
                               .golden[0];
    EXPECT_THAT(y.radius.data, testing::Each(0));
    const size_t underflow = role == "query" ? 0 : 2;
    EXPECT_EQ(y.value.data[underflow], 0);
    EXPECT_EQ(std::abs(y.value.data[2 - underflow]), INFINITY);
  }
}

TEST(Xpos, RefusesAttributesOutOfRange) {
  for (const char* word : {"gamma=0", "gamma=-1", "scale_base=0", "base=0", "offset=3"}) {
    EXPECT_THROW(Case::Parse(std::string("xpos pairing=half role=key H=1 S=1 D=4 R=2 ") + word),
                 Error)
        << word;
  }
}

}  // namespace
}  // namespace sextant
