#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

constexpr double kFactor = 4, kContext = 4096, kBase = 10000, kWidth = 64;

// yarn in plain loops, with another ramp.
std::vector<std::string> ExplainedRamp(double (*ramp)(double k, double low, double high)) {
  const auto limit = [](double turns) {
    return kWidth * std::log(kContext / (2 * M_PI * turns)) / (2 * std::log(kBase));
  };
  const double low = std::floor(limit(32)), high = std::ceil(limit(1));
  const Plain plain{.frequency =
                        [=](size_t k, size_t R) {
                          const double r =
                              std::clamp(ramp(static_cast<double>(k), low, high), 0.0, 1.0);
                          return std::pow(static_cast<long double>(kBase), -2.0L * k / R) *
                                 (1 - r + r / static_cast<long double>(kFactor));
                        },
                    .gain = 0.1L * std::log(static_cast<long double>(kFactor)) + 1};
  return Explained(
      "rope pairing=half scaling=yarn(factor=4,original_max_position_embeddings=4096) H=2 D=64 "
      "@position=0..20,300,999,5000,12000",
      plain);
}

TEST(Ramps, AreNamedByTheirLimits) {
  EXPECT_THAT(
      ExplainedRamp([](double k, double low, double high) { return 2 * (k - low) / (high - low); }),
      testing::Contains(testing::HasSubstr(
          "scaling_ramp (the ramp of the scaling goes from pair 10 to pair 16.5, expected "
          "from 10 to 23")));
}

TEST(Ramps, AreNamedByTheirFunction) {
  EXPECT_THAT(ExplainedRamp([](double k, double low, double high) {
                const double r = std::clamp((k - low) / (high - low), 0.0, 1.0);
                return 1 - (1 - r) * (1 - r);
              }),
              testing::Contains(
                  testing::HasSubstr("the ramp of the scaling is squared from its other end")));
}

}  // namespace
}  // namespace sextant::oracle
