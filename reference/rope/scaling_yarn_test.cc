// Tests with expected values from outside this code: published parameters of models, powers of two,
// limits, and numbers computed with mpmath.
#include "reference/rope/scaling_yarn.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reference/rope/scaling_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct YarnModel {
  int R;
  double base, L, low, high;
};

TEST(YarnScaling, ComputesTheLimitsOfPublishedModels) {
  for (const YarnModel& m : {YarnModel{128, 1e4, 4096, 20.944482, 45.026881},
                             YarnModel{128, 1e4, 2048, 16.128002, 40.210401},
                             YarnModel{64, 1e4, 4096, 10.472241, 22.513441},
                             YarnModel{128, 1e6, 32768, 23.595948, 39.650881},
                             YarnModel{128, 5e5, 8192, 18.081135, 34.984119},
                             YarnModel{64, 150000, 4096, 8.092779, 17.398025}}) {
    const YarnScaling yarn{.factor = 4, .original_max_position_embeddings = m.L};
    const RotarySetting setting{.base = m.base, .R = m.R};
    EXPECT_NEAR(yarn.IndexOf<BoostReal>(32, setting).High(), m.low, 1e-6);
    EXPECT_NEAR(yarn.IndexOf<BoostReal>(1, setting).High(), m.high, 1e-6);
  }
}

// Llama 2: pairs up to 20 are unchanged, pairs from 46 on are divided; pair 33 is in the middle.
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

// gpt-oss: limits 8.092779 and 17.398025 without truncation; truncation changes pair 17 by 76 %.
TEST(YarnScaling, TruncateFalseUsesTheRealLimits) {
  const std::string yarn = "R=64 base=150000 scaling=yarn(factor=32,";
  const std::string L = "original_max_position_embeddings=4096";
  const auto f = Frequencies("R=64 base=150000"), y = Frequencies(yarn + L + ",truncate=false)"),
             truncated = Frequencies(yarn + L + ")");
  for (size_t k = 0; k < 32; ++k) {
    const double r =
        std::clamp((static_cast<double>(k) - 8.092779) / (17.398025 - 8.092779), 0.0, 1.0);
    EXPECT_NEAR(y[k] / f[k], 1 - r * 31 / 32, 1e-6) << k;
  }
  EXPECT_NEAR(truncated[17] / y[17], 1.76, 0.01);
}

// index(beta) = 16 ln(L / (2 pi beta)) / (2 ln 16), so index(32) is far below 0: low = 0.
TEST(YarnScaling, CrossedDecidesTheRampWhereLowIsNotBelowHigh) {
  const std::string yarn = "R=16 base=16 scaling=yarn(factor=2,original_max_position_embeddings=";
  const auto f = Frequencies("R=16 base=16");
  const auto ramp = [&](const std::vector<double>& y) {
    std::vector<double> r;
    for (size_t k = 0; k < y.size(); ++k) r.push_back(2 - 2 * y[k] / f[k]);
    return r;
  };
  // index(1) = 0.0077: high = 1.
  EXPECT_THAT(ramp(Frequencies(yarn + "6.3)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  // index(1) = -0.0015: high = 0 = low. A width of 0.001 makes a step between pairs 0 and 1.
  EXPECT_THAT(ramp(Frequencies(yarn + "6.28)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  // index(1) = -7.9: high = -7 < low. The negative width gives r = 0 for all pairs; a step does
  // not.
  EXPECT_THAT(ramp(Frequencies(yarn + "0.4)")), Each(0));
  EXPECT_THAT(ramp(Frequencies(yarn + "0.4,crossed=step)")), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
}

// index(1) = 128 ln(1e30 / 2 pi) / (2 ln 10) = 1868, so high = R-1 = 127. index(1e27) = 140.9 is
// also larger than R-1: low = 140 > high, and (k - 140) / (127 - 140) > 1 for every pair k.
TEST(YarnScaling, ClampsTheUpperLimitToRMinusOne) {
  const std::string L = "original_max_position_embeddings=1e30";
  const auto f = Frequencies("R=128 base=10");
  const auto y = Frequencies("R=128 base=10 scaling=yarn(factor=2," + L + ",beta_fast=1e27)");
  EXPECT_EQ(y[0], 0.5);
  EXPECT_EQ(y[63], f[63] / 2);
  // index(1e29) = 128 ln(10 / 2 pi) / (2 ln 10) = 12.9: the ramp is from 12 to 127, not to 63.
  const auto wide = Frequencies("R=128 base=10 scaling=yarn(factor=2," + L + ",beta_fast=1e29)");
  EXPECT_NEAR(wide[63] / f[63], 1 - 0.5 * (63 - 12) / (127 - 12), 1e-15);
}

TEST(YarnScaling, EqualBetasGiveAStep) {
  const std::string yarn =
      "R=128 scaling=yarn(factor=4,original_max_position_embeddings=4096,beta_fast=1,";
  const auto f = Frequencies("R=128");
  for (const char* truncate : {"truncate=false)", "truncate=false,crossed=step)"}) {
    const auto y = Frequencies(yarn + truncate);
    EXPECT_EQ(y[45], f[45]);  // index(1) = 45.03
    EXPECT_EQ(y[46], f[46] / 4);
  }
  const auto y = Frequencies(yarn + "truncate=true)");  // the ramp is from 45 to 46
  EXPECT_EQ(y[45], f[45]);
  EXPECT_EQ(y[46], f[46] / 4);
}

// The ramp of the paper: L f / 2 pi = 16.5 rotations is half way between 1 and 32.
TEST(YarnScaling, RampRotationsIsLinearInRotations) {
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

// attention_factor has precedence over the ratio, the ratio over the default; an mscale of 0 counts
// as unset.
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

TEST(YarnScaling, RefusesInvalidParameters) {
  EXPECT_THAT(ErrorOf("R=4 base=1 scaling=yarn(factor=4,original_max_position_embeddings=9)"),
              HasSubstr("yarn: base is 1"));
  EXPECT_THAT(ErrorOf("R=4 scaling=yarn(factor=4,original_max_position_embeddings=0)"),
              HasSubstr("original_max_position_embeddings is 0"));
  EXPECT_THAT(ErrorOf("R=4 scaling=yarn(factor=4,original_max_position_embeddings=9,beta_slow=0)"),
              HasSubstr("beta_slow is 0"));
}

}  // namespace
}  // namespace sextant
