// Tests with expected values from outside this code: published parameters of models, powers of two,
// limits, and numbers computed with mpmath.
#include "reference/rope/scaling_lists.h"

#include <string>

#include "reference/rope/scaling_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kLongRope =
    "R=4 base=65536 scaling=longrope(short_factor=[1,2],long_factor=[4,8],"
    "original_max_position_embeddings=4096,factor=32";

TEST(LongRopeScaling, UsesLongFactorBeyondTheOriginalContext) {
  for (const char* n : {"", "1", "4095", "4096"}) {
    EXPECT_THAT(Frequencies(kLongRope + ") seq_len=" + n), ElementsAre(1, 0x1p-9)) << n;
  }
  for (const char* n : {"4097", "131072"}) {
    EXPECT_THAT(Frequencies(kLongRope + ") seq_len=" + n), ElementsAre(0x1p-2, 0x1p-11)) << n;
  }
}

TEST(LongRopeScaling, AmplitudeIsARatioOfLogarithms) {
  const auto a = [](const std::string& L, const std::string& factor) {
    return Amplitude("R=0 scaling=longrope(short_factor=[],long_factor=[],factor=" + factor +
                     ",original_max_position_embeddings=" + L + ")");
  };
  EXPECT_NEAR(a("4096", "32"), 1.190238071, 5e-10);
  EXPECT_NEAR(a("4096", "4"), 1.08012345, 5e-9);
  EXPECT_NEAR(a("8192", "16"), 1.14354375, 5e-9);
  EXPECT_EQ(a("4096", "1"), 1);
  EXPECT_EQ(a("4096", "0.5"), 1);
  // sqrt(1 + 15/12) = 1.5 exactly.
  EXPECT_EQ(a("4096", "32768"), 1.5);
  EXPECT_EQ(ProofOf("rope_frequencies R=0 scaling=longrope(short_factor=[],long_factor=[],"
                    "factor=32768,original_max_position_embeddings=4096)")
                .golden[1]
                .radius.data[0],
            0);
}

TEST(LongRopeScaling, AmplitudesMayBeGiven) {
  EXPECT_EQ(Amplitude(kLongRope + ",attention_factor=1.25)"), 1.25);
  const std::string both = kLongRope + ",short_mscale=1.125,long_mscale=1.5) seq_len=";
  EXPECT_EQ(Amplitude(both + "4096"), 1.125);
  EXPECT_EQ(Amplitude(both + "4097"), 1.5);
  EXPECT_NEAR(Amplitude(kLongRope + ",long_mscale=1.5) seq_len=4096"), 1.190238071, 5e-10);
  EXPECT_THAT(ErrorOf(kLongRope + ",attention_factor=1,short_mscale=1)"), HasSubstr("not both"));
}

TEST(LongRopeScaling, RefusesListsThatAreNotOnePositiveNumberPerPair) {
  EXPECT_THAT(ErrorOf("R=6 scaling=longrope(short_factor=[1,2,3],long_factor=[1,2],factor=1,"
                      "original_max_position_embeddings=9)"),
              HasSubstr("long_factor has 2 numbers, expected one for each of the 3 pairs of R=6"));
  EXPECT_THAT(ErrorOf("R=2 scaling=longrope(short_factor=[0],long_factor=[1],factor=1,"
                      "original_max_position_embeddings=9)"),
              HasSubstr("a number of short_factor is 0"));
}

TEST(ExplicitScaling, ReturnsTheGivenNumbers) {
  EXPECT_THAT(Frequencies("R=6 base=7 scaling=explicit(inv_freq=[0.5,-0.25,0])"),
              ElementsAre(0.5, -0.25, 0));
  EXPECT_EQ(Amplitude("R=2 scaling=explicit(inv_freq=[1],attention_factor=0.75)"), 0.75);
  EXPECT_THAT(ErrorOf("R=6 scaling=explicit(inv_freq=[1])"), HasSubstr("inv_freq has 1 numbers"));
}

}  // namespace
}  // namespace sextant
