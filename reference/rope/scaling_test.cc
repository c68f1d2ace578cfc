// Facts about the scalings that do not come from this code: published parameters of models, powers
// of two, limits. Anchor numbers were computed with mpmath.
#include "reference/rope/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> Frequencies(const std::string& words) {
  return DoublesOf("rope_frequencies dtype=f64 " + words);
}
double Amplitude(const std::string& words) {
  return DoublesOf("rope_frequencies dtype=f64 " + words, 1)[0];
}
std::string ErrorOf(const std::string& words) {
  try {
    Case::Parse("rope_frequencies " + words);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// The base whose power f_1 is.
double BaseOf(int R, const std::string& words) {
  const auto f = Frequencies("R=" + std::to_string(R) + " " + words);
  return std::pow(f[1], -R / 2.0);
}

TEST(NtkScaling, GrowsTheBase) {
  EXPECT_NEAR(BaseOf(128, "scaling=ntk(factor=4)"), 40889.94243, 1e-5);
  EXPECT_NEAR(BaseOf(128, "scaling=ntk(factor=8)"), 82684.62264, 1e-5);
  EXPECT_NEAR(BaseOf(64, "scaling=ntk(factor=2)"), 20452.22871, 1e-5);
}

// base 16^(4/4) 4^(4/2) = 256, so f_1 = 256^(-1/2); and 16 4^(8/6), whose f_3 = 1/8 1/4 is rational
// though the base is not.
TEST(NtkScaling, IsExactWhereItCanBe) {
  EXPECT_THAT(Frequencies("base=16 R=4 scaling=ntk(factor=4)"), ElementsAre(1, 0x1p-4));
  EXPECT_EQ(Frequencies("base=16 R=8 scaling=ntk(factor=4)")[3], 0x1p-5);
  EXPECT_THAT(ProofOf("rope_frequencies base=16 R=8 scaling=ntk(factor=4)").golden[0].radius.data,
              Each(0));
}

// 16^(-k/4) 16^(-(k+1)/4); and with ((k+1)/2)^2 = 1/4, 1 as the exponents of 16.
TEST(NtkMixedScaling, DividesEveryPairByItsOwnPower) {
  using testing::DoubleEq;
  EXPECT_THAT(Frequencies("base=16 R=8 scaling=ntk_mixed(factor=16)"),
              ElementsAre(DoubleEq(0x1p-1), DoubleEq(0x1p-3), DoubleEq(0x1p-5), 0x1p-7));
  EXPECT_THAT(Frequencies("base=16 R=4 scaling=ntk_mixed(factor=16,mixed_b=2)"),
              ElementsAre(DoubleEq(0x1p-1), 0x1p-6));
  EXPECT_THAT(ErrorOf("R=4 scaling=ntk_mixed(factor=4,mixed_b=0)"),
              HasSubstr("ntk_mixed: mixed_b is 0, expected more than 0"));
}

TEST(NtkScaling, RefusesTheWidthThatItDividesBy) {
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

// growth 3 4096 / 2048 - 2 = 4
TEST(DynamicScaling, IsNtkOfItsGrowth) {
  EXPECT_EQ(Frequencies("R=8 scaling=dynamic(factor=3,max_position_embeddings=2048) seq_len=4096"),
            Frequencies("R=8 scaling=ntk(factor=4)"));
}

struct YarnModel {
  int R;
  double base, L, low, high;
};

TEST(YarnScaling, HasTheLimitsOfPublishedModels) {
  for (const YarnModel& m : {YarnModel{128, 1e4, 4096, 20.944482, 45.026881},
                             YarnModel{128, 1e4, 2048, 16.128002, 40.210401},
                             YarnModel{64, 1e4, 4096, 10.472241, 22.513441},
                             YarnModel{128, 1e6, 32768, 23.595948, 39.650881},
                             YarnModel{128, 5e5, 8192, 18.081135, 34.984119},
                             YarnModel{64, 150000, 4096, 8.092779, 17.398025}}) {
    const YarnScaling yarn{.factor = 4, .original_max_position_embeddings = m.L};
    const RotarySetting setting{.base = m.base, .R = m.R};
    EXPECT_NEAR(yarn.IndexOf<Wide>(32, setting).High(), m.low, 1e-6);
    EXPECT_NEAR(yarn.IndexOf<Wide>(1, setting).High(), m.high, 1e-6);
  }
}

// Llama 2: pairs up to 20 stay, from 46 on they are divided; pair 33 is in the middle.
TEST(YarnScaling, BlendsBetweenTruncatedLimits) {
  const auto f = Frequencies("R=128");
  const auto y = Frequencies("R=128 scaling=yarn(factor=4,original_max_position_embeddings=4096)");
  for (size_t k = 0; k < 64; ++k) {
    const double r = std::clamp((static_cast<double>(k) - 20) / 26, 0.0, 1.0);
    EXPECT_NEAR(y[k] / f[k], 1 - r * 0.75, 1e-15) << k;
  }
  EXPECT_EQ(y[20], f[20]);
  EXPECT_LT(y[21], f[21]);
  EXPECT_GT(y[45], f[45] / 4);
  EXPECT_EQ(y[46], f[46] / 4);
}

// gpt-oss: limits 8.092779 and 17.398025 as they are; pair 17 differs by 76 % from truncated ones.
TEST(YarnScaling, KeepsLimitsThatAreNotTruncated) {
  const std::string of = "R=64 base=150000 scaling=yarn(factor=32,";
  const std::string L = "original_max_position_embeddings=4096";
  const auto f = Frequencies("R=64 base=150000"), y = Frequencies(of + L + ",truncate=false)"),
             truncated = Frequencies(of + L + ")");
  for (size_t k = 0; k < 32; ++k) {
    const double r =
        std::clamp((static_cast<double>(k) - 8.092779) / (17.398025 - 8.092779), 0.0, 1.0);
    EXPECT_NEAR(y[k] / f[k], 1 - r * 31 / 32, 1e-6) << k;
  }
  EXPECT_NEAR(truncated[17] / y[17], 1.76, 0.01);
}

// index(beta) = 16 ln(L / (2 pi beta)) / (2 ln 16), so index(32) is far below 0: low = 0.
TEST(YarnScaling, LimitsThatDoNotRise) {
  const std::string yarn = "R=16 base=16 scaling=yarn(factor=2,original_max_position_embeddings=";
  const auto f = Frequencies("R=16 base=16");
  const auto halved = [&](const std::vector<double>& y) {
    std::vector<double> r;
    for (size_t k = 0; k < y.size(); ++k) r.push_back(2 - 2 * y[k] / f[k]);
    return r;
  };
  // index(1) = 0.0077: high = 1.
  EXPECT_THAT(halved(Frequencies(yarn + "6.3)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  // index(1) = -0.0015: high = 0 = low. A width of 0.001 makes a step between pairs 0 and 1.
  EXPECT_THAT(halved(Frequencies(yarn + "6.28)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  // index(1) = -7.9: high = -7 < low. Divided by a negative number all stay; a step divides.
  EXPECT_THAT(halved(Frequencies(yarn + "0.4)")), Each(0));
  EXPECT_THAT(halved(Frequencies(yarn + "0.4,crossed=step)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
}

// index(1) = 128 ln(1e30 / 2 pi) / (2 ln 10) = 1868: high = R-1 = 127. index(1e27) = 140.9 is
// beyond it too: low = 140 > high, and (k - 140) / (127 - 140) is above 1 for every pair k.
TEST(YarnScaling, ClampsTheUpperLimitToTheWidth) {
  const std::string L = "original_max_position_embeddings=1e30";
  const auto f = Frequencies("R=128 base=10");
  const auto y = Frequencies("R=128 base=10 scaling=yarn(factor=2," + L + ",beta_fast=1e27)");
  EXPECT_EQ(y[0], 0.5);
  EXPECT_EQ(y[63], f[63] / 2);
  // index(1e29) = 128 ln(10 / 2 pi) / (2 ln 10) = 12.9: from 12 to 127, not to 63.
  const auto wide = Frequencies("R=128 base=10 scaling=yarn(factor=2," + L + ",beta_fast=1e29)");
  EXPECT_NEAR(wide[63] / f[63], 1 - 0.5 * (63 - 12) / (127 - 12), 1e-15);
}

TEST(YarnScaling, EqualBetasMakeAStep) {
  const std::string yarn =
      "R=128 scaling=yarn(factor=4,original_max_position_embeddings=4096,beta_fast=1,";
  const auto f = Frequencies("R=128");
  for (const char* truncate : {"truncate=false)", "truncate=false,crossed=step)"}) {
    const auto y = Frequencies(yarn + truncate);
    EXPECT_EQ(y[45], f[45]);  // index(1) = 45.03
    EXPECT_EQ(y[46], f[46] / 4);
  }
  const auto y = Frequencies(yarn + "truncate=true)");  // from 45 to 46
  EXPECT_EQ(y[45], f[45]);
  EXPECT_EQ(y[46], f[46] / 4);
}

// The paper's ramp: half way between 1 and 32 turns, where L f / 2 pi = 16.5.
TEST(YarnScaling, RampOfThePaperCountsRotations) {
  const double L = 16.5 * 2 * std::acos(-1.0);
  const auto y =
      Frequencies("R=2 scaling=yarn(factor=4,original_max_position_embeddings=" + PrintValue(L) +
                  ",ramp=rotations)");
  EXPECT_NEAR(y[0], 0.5 + 0.5 / 4, 1e-15);
  EXPECT_THAT(ErrorOf("R=4 scaling=yarn(factor=4,original_max_position_embeddings=9,beta_fast=1,"
                      "ramp=rotations)"),
              HasSubstr("beta_fast is 1, expected more than beta_slow, 1"));
}

TEST(YarnScaling, AmplitudeGrowsWithTheFactor) {
  const auto g = [](const std::string& factor, const std::string& more = "") {
    return Amplitude("R=2 scaling=yarn(original_max_position_embeddings=4096,factor=" + factor +
                     more + ")");
  };
  EXPECT_NEAR(g("2"), 1.0693147, 5e-8);
  EXPECT_NEAR(g("4"), 1.1386294, 5e-8);
  EXPECT_NEAR(g("8"), 1.2079442, 5e-8);
  EXPECT_NEAR(g("16"), 1.2772589, 5e-8);
  EXPECT_NEAR(g("32"), 1.3465736, 5e-8);
  EXPECT_NEAR(g("40"), 1.3688879, 5e-8);
  EXPECT_NEAR(g("128"), 1.4852030, 5e-8);
  EXPECT_EQ(g("1"), 1);
  EXPECT_EQ(g("0.5"), 1);
}

// attention_factor before the ratio, the ratio before the default; 0 is as if absent.
TEST(YarnScaling, AmplitudeHasAnOrderOfPrecedence) {
  const auto g = [](const std::string& more) {
    return Amplitude("R=2 scaling=yarn(original_max_position_embeddings=4096,factor=40," + more +
                     ")");
  };
  EXPECT_EQ(g("attention_factor=1.5,mscale=1,mscale_all_dim=0.5"), 1.5);
  EXPECT_EQ(g("mscale=1,mscale_all_dim=1"), 1);          // DeepSeek V3
  EXPECT_EQ(g("mscale=0.707,mscale_all_dim=0.707"), 1);  // V2
  EXPECT_NEAR(g("mscale=1,mscale_all_dim=0.707"), 1.3688879454 / 1.2608037774, 1e-9);
  for (const char* only : {"mscale=0.707", "mscale_all_dim=0.707", "mscale=0.707,mscale_all_dim=0",
                           "mscale=0,mscale_all_dim=1"}) {
    EXPECT_NEAR(g(only), 1.3688879, 5e-8) << only;
  }
}

TEST(YarnScaling, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(ErrorOf("R=4 base=1 scaling=yarn(factor=4,original_max_position_embeddings=9)"),
              HasSubstr("yarn: base is 1"));
  EXPECT_THAT(ErrorOf("R=4 scaling=yarn(factor=4,original_max_position_embeddings=0)"),
              HasSubstr("original_max_position_embeddings is 0"));
  EXPECT_THAT(ErrorOf("R=4 scaling=yarn(factor=4,original_max_position_embeddings=9,beta_slow=0)"),
              HasSubstr("beta_slow is 0"));
}

const std::string kLongRope =
    "R=4 base=65536 scaling=longrope(short_factor=[1,2],long_factor=[4,8],"
    "original_max_position_embeddings=4096,factor=32";

TEST(LongRopeScaling, SwitchesBeyondTheOriginalContext) {
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
  // 1 + 15/12 = 1.5^2 is met exactly.
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

TEST(LongRopeScaling, WantsANumberForEachPair) {
  EXPECT_THAT(ErrorOf("R=6 scaling=longrope(short_factor=[1,2,3],long_factor=[1,2],factor=1,"
                      "original_max_position_embeddings=9)"),
              HasSubstr("long_factor has 2 numbers, expected one for each of the 3 pairs of R=6"));
  EXPECT_THAT(ErrorOf("R=2 scaling=longrope(short_factor=[0],long_factor=[1],factor=1,"
                      "original_max_position_embeddings=9)"),
              HasSubstr("a number of short_factor is 0"));
}

// Gemma 4: a quarter of the pairs of the whole head, exponents over its whole width.
TEST(ProportionalScaling, KeepsTheRestStill) {
  EXPECT_THAT(Frequencies("base=65536 R=16 scaling=proportional(partial_rotary_factor=0.25)"),
              ElementsAre(1, 0x1p-2, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(
      Frequencies("base=65536 R=8 scaling=proportional(partial_rotary_factor=0.7,factor=4)"),
      ElementsAre(0x1p-2, 0x1p-6, 0, 0));
  EXPECT_EQ(Frequencies("R=16 scaling=proportional(partial_rotary_factor=1)"), Frequencies("R=16"));
}

// 0.3 is a little less than 3/10, but 0.3 * 20 is 6 in binary64: 3 pairs, as frameworks count.
TEST(ProportionalScaling, CountsPairsInBinary64) {
  const auto f = Frequencies("R=20 scaling=proportional(partial_rotary_factor=0.3)");
  EXPECT_GT(f[2], 0);
  EXPECT_EQ(f[3], 0);
}

TEST(ExplicitScaling, IsWhatIsGiven) {
  EXPECT_THAT(Frequencies("R=6 base=7 scaling=explicit(inv_freq=[0.5,-0.25,0])"),
              ElementsAre(0.5, -0.25, 0));
  EXPECT_EQ(Amplitude("R=2 scaling=explicit(inv_freq=[1],attention_factor=0.75)"), 0.75);
  EXPECT_THAT(ErrorOf("R=6 scaling=explicit(inv_freq=[1])"), HasSubstr("inv_freq has 1 numbers"));
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

// So keys that were cached under a shorter sequence do not fit queries of a longer one, and
// decoding with a cache is no prefill, where the length crosses the context; with no other scaling.
TEST(Scaling, DynamicAndLongRopeAloneDependOnTheLength) {
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

TEST(Scaling, LengthMustBeACount) {
  EXPECT_THAT(ErrorOf("R=2 seq_len=-1"), HasSubstr("seq_len is -1, expected 0 to 2^53"));
  EXPECT_THAT(ErrorOf("R=2 seq_len=9007199254740993"), HasSubstr("expected 0 to 2^53"));
}

// Llama 4 Scout: with equal factors pair k turns once within 8192 tokens up to k = 34.98.
TEST(Llama3Scaling, EqualFactorsAreAStep) {
  const auto plain = Frequencies("R=128 base=500000");
  const auto step = Frequencies("R=128 base=500000 scaling=llama3(factor=16,high_freq_factor=1)");
  for (size_t k = 0; k < 64; ++k) EXPECT_EQ(step[k], k <= 34 ? plain[k] : plain[k] / 16) << k;
}

}  // namespace
}  // namespace sextant
