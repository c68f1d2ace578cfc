#include "fast/rope/rope_frequencies.h"

#include <gtest/gtest.h>

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/mpfr.hpp>

namespace sextant::fast {
namespace {

using Real60 = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<60>>;

constexpr size_t kWidth = 128;

Real60 Unscaled(size_t k) { return pow(Real60(500000), Real60(-2.0 * k) / kWidth); }

// Expects |f[k] - exact(k)| <= units * 2^-106 exact(k) for every k.
template <class Exact>
void ExpectWithin(double units, const RopeScaling& scaling, const Exact& exact) {
  const std::vector<DoubleDouble> f =
      ScaledFrequencies({.base = 500000, .scaling = scaling, .R = {kWidth}}).of_pair;
  ASSERT_EQ(f.size(), kWidth / 2);
  for (size_t k = 0; k < f.size(); ++k) {
    const Real60 want = exact(k), error = abs(Real60(f[k].high) + f[k].low - want);
    EXPECT_LE(error, want * units * 0x1p-106) << "pair " << k;
  }
}

// 24 is the error bound of Power for |p/q| < 1.
TEST(Frequencies, UnscaledAreGeometric) { ExpectWithin(24, NoScaling{}, Unscaled); }

// One more division.
TEST(Frequencies, LinearScalingDividesByItsFactor) {
  ExpectWithin(24 + 15.01, LinearScaling{.factor = 2.5},
               [](size_t k) { return Unscaled(k) / 2.5; });
}

// The weight m in [0, 1] has an error of at most 57 units: up to 4 periods with an error of
// 24 + 5 + 15 + 15, divided by 3, and the differences. The weighted sum has twice that error, as
// its two terms are of similar size.
TEST(Frequencies, Llama3ScalesByBands) {
  ExpectWithin(256, Llama3Scaling{}, [](size_t k) -> Real60 {
    const Real60 f = Unscaled(k), periods = 8192 * f / (2 * boost::math::constants::pi<Real60>());
    if (periods < 1) return f / 8;
    if (periods > 4) return f;
    const Real60 m = (periods - 1) / 3;
    return (1 - m) * f / 8 + m * f;
  });
}

// One more product, with a power of a number up to 8 whose logarithm has an error of 33 units.
TEST(Frequencies, NtkScalingRaisesTheBase) {
  const Real60 growth = 8, base = 500000 * pow(growth, Real60(kWidth) / (kWidth - 2));
  const auto exact = [&](size_t k) -> Real60 { return pow(base, Real60(-2.0 * k) / kWidth); };
  ExpectWithin(160, NtkScaling{.factor = 8}, exact);
}

// For base 500000 and 16384 positions, index(32) = 21.5 and index(1) = 38.4: a ramp from 21 to 39.
TEST(Frequencies, YarnScalesByIndex) {
  ExpectWithin(128, YarnScaling{.factor = 4, .original_max_position_embeddings = 16384},
               [](size_t k) -> Real60 {
                 const Real60 r = k < 21 ? Real60(0) : k > 39 ? Real60(1) : Real60(k - 21.0) / 18;
                 return Unscaled(k) * (1 - r) + Unscaled(k) / 4 * r;
               });
}

// Errors: two logarithms of 33 units, their quotient, a sum, a root.
TEST(Frequencies, LongRopeHasAnAmplitude) {
  const std::vector<double> ones(kWidth / 2, 1.0);
  const LongRopeScaling longrope{.short_factor = ones,
                                 .long_factor = ones,
                                 .original_max_position_embeddings = 4096,
                                 .factor = 31};
  const DoubleDouble a =
      ScaledFrequencies({.base = 500000, .scaling = longrope, .R = {kWidth}}).amplitude;
  const Real60 exact = sqrt(1 + log(Real60(31)) / log(Real60(4096)));
  EXPECT_LE(abs(Real60(a.high) + a.low - exact), exact * 64 * 0x1p-106);
  EXPECT_EQ(ScaledFrequencies({.R = {kWidth}}).amplitude, DoubleDouble(1.0));
}

}  // namespace
}  // namespace sextant::fast
