// Tests with expected values from outside this code: published parameters of models, powers of two,
// limits, and numbers computed with mpmath.
#include "reference/rope/scaling.h"

#include <cmath>
#include <string>
#include <vector>

#include "reference/rope/scaling_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// The base for which f_1 = base^(-2/R).
double BaseOf(int R, const std::string& words) {
  const auto f = Frequencies("R=" + std::to_string(R) + " " + words);
  return std::pow(f[1], -R / 2.0);
}

TEST(NtkScaling, GrowsTheBase) {
  EXPECT_NEAR(BaseOf(128, "scaling=ntk(factor=4)"), 40889.94243, 1e-5);
  EXPECT_NEAR(BaseOf(128, "scaling=ntk(factor=8)"), 82684.62264, 1e-5);
  EXPECT_NEAR(BaseOf(64, "scaling=ntk(factor=2)"), 20452.22871, 1e-5);
}

// R = 4: the base is 16 * 4^(4/2) = 256, so f_1 = 256^(-1/2). R = 8: the base 16 * 4^(8/6) is
// irrational, but f_3 = 1/8 * 1/4 is rational.
TEST(NtkScaling, IsExactWhereTheFrequencyIsRational) {
  EXPECT_THAT(Frequencies("base=16 R=4 scaling=ntk(factor=4)"), ElementsAre(1, 0x1p-4));
  EXPECT_EQ(Frequencies("base=16 R=8 scaling=ntk(factor=4)")[3], 0x1p-5);
  EXPECT_THAT(ProofOf("rope_frequencies base=16 R=8 scaling=ntk(factor=4)").golden[0].radius.data,
              Each(0));
}

// R = 8: 16^(-k/4) * 16^(-(k+1)/4). R = 4 with mixed_b = 2: the exponents ((k+1)/2)^2 are 1/4
// and 1.
TEST(NtkMixedScaling, DividesEachPairByItsOwnPowerOfTheFactor) {
  using testing::DoubleEq;
  EXPECT_THAT(Frequencies("base=16 R=8 scaling=ntk_mixed(factor=16)"),
              ElementsAre(DoubleEq(0x1p-1), DoubleEq(0x1p-3), DoubleEq(0x1p-5), 0x1p-7));
  EXPECT_THAT(Frequencies("base=16 R=4 scaling=ntk_mixed(factor=16,mixed_b=2)"),
              ElementsAre(DoubleEq(0x1p-1), 0x1p-6));
  EXPECT_THAT(ErrorOf("R=4 scaling=ntk_mixed(factor=4,mixed_b=0)"),
              HasSubstr("ntk_mixed: mixed_b is 0, expected more than 0"));
}

TEST(NtkScaling, RefusesWidthTwo) {
  EXPECT_THAT(ErrorOf("R=2 scaling=ntk(factor=4)"), HasSubstr("ntk: R is 2, expected"));
  EXPECT_EQ(ErrorOf("R=0 scaling=ntk(factor=4)"), "");
}

TEST(DynamicScaling, GrowsTheBaseWithTheLength) {
  const std::string scaling = "scaling=dynamic(factor=10,max_position_embeddings=2048) seq_len=";
  EXPECT_NEAR(BaseOf(128, scaling + "16384"), 759702.231148, 1e-4);
  EXPECT_EQ(Frequencies("R=64 " + scaling + "2048"), Frequencies("R=64"));
  EXPECT_EQ(Frequencies("R=64 " + scaling + "1"), Frequencies("R=64"));
  EXPECT_EQ(Frequencies("R=64 " + scaling), Frequencies("R=64"));
  EXPECT_LT(Frequencies("R=64 " + scaling + "2049")[1], Frequencies("R=64")[1]);
}

// growth = 3 * 4096 / 2048 - 2 = 4
TEST(DynamicScaling, IsNtkWithItsGrowth) {
  EXPECT_EQ(Frequencies("R=8 scaling=dynamic(factor=3,max_position_embeddings=2048) seq_len=4096"),
            Frequencies("R=8 scaling=ntk(factor=4)"));
}

// Gemma 4: a quarter of the pairs are rotated; the exponents use the whole head width.
TEST(ProportionalScaling, OtherPairsHaveFrequencyZero) {
  EXPECT_THAT(Frequencies("base=65536 R=16 scaling=proportional(partial_rotary_factor=0.25)"),
              ElementsAre(1, 0x1p-2, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(
      Frequencies("base=65536 R=8 scaling=proportional(partial_rotary_factor=0.7,factor=4)"),
      ElementsAre(0x1p-2, 0x1p-6, 0, 0));
  EXPECT_EQ(Frequencies("R=16 scaling=proportional(partial_rotary_factor=1)"), Frequencies("R=16"));
}

// The double 0.3 is a little less than 3/10, but 0.3 * 20 rounds to 6 in binary64: 3 pairs, as in
// frameworks.
TEST(ProportionalScaling, CountsPairsInBinary64) {
  const auto f = Frequencies("R=20 scaling=proportional(partial_rotary_factor=0.3)");
  EXPECT_GT(f[2], 0);
  EXPECT_EQ(f[3], 0);
}

TEST(Scaling, NeutralParametersChangeNothing) {
  const auto f = Frequencies("R=8");
  for (const char* neutral :
       {"linear(factor=1)", "ntk(factor=1)", "llama3(factor=1)",
        "dynamic(factor=4,max_position_embeddings=2048)",
        "yarn(factor=1,original_max_position_embeddings=64)",
        "yarn(factor=1,original_max_position_embeddings=64,truncate=false)",
        "yarn(factor=1,original_max_position_embeddings=64,ramp=rotations)",
        "longrope(short_factor=[1,1,1,1],long_factor=[2,2,2,2],original_max_position_embeddings=64,"
        "factor=1)",
        "proportional(partial_rotary_factor=1)"}) {
    const std::string words = std::string("R=8 scaling=") + neutral;
    EXPECT_EQ(Frequencies(words), f) << neutral;
    EXPECT_EQ(Amplitude(words), 1) << neutral;
  }
}

// Consequence: with dynamic and longrope, keys cached for a shorter sequence do not match queries
// of a longer one, so decoding with a cache differs from prefill where the length crosses the
// context. No other scaling has this problem.
TEST(Scaling, OnlyDynamicAndLongRopeDependOnTheLength) {
  const auto at = [](const std::string& scaling, const std::string& n) {
    return Frequencies("R=8 scaling=" + scaling + " seq_len=" + n);
  };
  for (const char* scaling :
       {"none", "linear(factor=4)", "ntk(factor=4)", "llama3(original_max_position_embeddings=64)",
        "yarn(factor=4,original_max_position_embeddings=64)",
        "proportional(partial_rotary_factor=0.5)", "explicit(inv_freq=[1,2,3,4])"}) {
    EXPECT_EQ(at(scaling, "64"), at(scaling, "65")) << scaling;
  }
  for (const char* scaling :
       {"dynamic(factor=4,max_position_embeddings=64)",
        "longrope(short_factor=[1,1,1,1],long_factor=[2,2,2,2],original_max_position_embeddings=64,"
        "factor=4)"}) {
    EXPECT_EQ(at(scaling, "1"), at(scaling, "64")) << scaling;
    EXPECT_NE(at(scaling, "64"), at(scaling, "65")) << scaling;
  }
}

TEST(Scaling, RefusesSeqLenOutOfRange) {
  EXPECT_THAT(ErrorOf("R=2 seq_len=-1"), HasSubstr("seq_len is -1, expected 0 to 2^53"));
  EXPECT_THAT(ErrorOf("R=2 seq_len=9007199254740993"), HasSubstr("expected 0 to 2^53"));
}

// Llama 4 Scout, equal factors: pairs with k <= 34.98 make at least one rotation within 8192
// tokens.
TEST(Llama3Scaling, EqualFactorsAreAStep) {
  const auto plain = Frequencies("R=128 base=500000");
  const auto step = Frequencies("R=128 base=500000 scaling=llama3(factor=16,high_freq_factor=1)");
  for (size_t k = 0; k < 64; ++k) EXPECT_EQ(step[k], k <= 34 ? plain[k] : plain[k] / 16) << k;
}

}  // namespace
}  // namespace sextant
