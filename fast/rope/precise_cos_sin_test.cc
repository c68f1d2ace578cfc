#include "fast/rope/precise_cos_sin.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <vector>

namespace sextant::fast {
namespace {

// The reference by MPFR with 2500 bits: the nearest double and the double nearest to the remainder.
class Exact {
 public:
  Exact() { mpfr_inits2(2500, angle_, word_, cosine_, sine_, left_, nullptr); }
  ~Exact() { mpfr_clears(angle_, word_, cosine_, sine_, left_, nullptr); }
  SineCosine Of(const DoubleDouble& frequency, double position, const DoubleDouble& amplitude) {
    Set(angle_, frequency);
    mpfr_mul_d(angle_, angle_, position, MPFR_RNDN);
    mpfr_sin_cos(sine_, cosine_, angle_, MPFR_RNDN);
    Set(word_, amplitude);
    return {Round(sine_), Round(cosine_)};
  }

 private:
  static void Set(mpfr_ptr x, const DoubleDouble& words) {
    mpfr_set_d(x, words.high, MPFR_RNDN);
    mpfr_add_d(x, x, words.low, MPFR_RNDN);
  }
  DoubleDouble Round(mpfr_ptr x) {
    mpfr_mul(x, x, word_, MPFR_RNDN);
    const double high = mpfr_get_d(x, MPFR_RNDN);
    mpfr_sub_d(left_, x, high, MPFR_RNDN);
    return {high, mpfr_get_d(left_, MPFR_RNDN)};
  }
  mpfr_t angle_, word_, cosine_, sine_, left_;
};

// The low parts must agree; if both are below 2^-450 |high|, only in sign.
bool Agree(const DoubleDouble& a, const DoubleDouble& b) {
  const auto tiny = [](const DoubleDouble& x) {
    return std::abs(x.low) <= std::abs(x.high) * 0x1p-450;
  };
  return a.high == b.high &&
         (a.low == b.low || (tiny(a) && tiny(b) && std::signbit(a.low) == std::signbit(b.low)));
}

void ExpectExact(const std::vector<DoubleDouble>& frequencies, const std::vector<double>& positions,
                 const std::vector<DoubleDouble>& amplitudes) {
  Exact exact;
  for (const DoubleDouble& f : frequencies) {
    for (const double p : positions) {
      for (const DoubleDouble& a : amplitudes) {
        const SineCosine got = PreciseCosSin(f, p, a), right = exact.Of(f, p, a);
        EXPECT_TRUE(Agree(got.cosine, right.cosine)) << f.high << " " << p << " " << a.high;
        EXPECT_TRUE(Agree(got.sine, right.sine)) << f.high << " " << p << " " << a.high;
      }
    }
  }
}

TEST(PreciseCosSin, RoundsAtEveryQuarterAndSign) {
  std::vector<double> positions;
  for (int p = -12; p <= 12; ++p) positions.push_back(p);
  ExpectExact({1.0, -0.3, 0.7, {0.1, 0x1p-60}, {0.1, -0x1p-60}}, positions,
              {1.0, -1.5, {1.25, 0x1p-55}, {1.25, -0x1p-90}});
}

// Numerators of convergents of pi/2, and the limits of the range.
TEST(PreciseCosSin, RoundsNextToMultiplesOfHalfPi) {
  ExpectExact(
      {1.0, {1.0, 0x1p-54}},
      {11, 355, 103993, 5419351, 411557987, 6167950454, 2818706131860881, 0x1p53 - 1, 0x1p53},
      {1.0, 1e300, 1e-300});
  // pi/2 rounded to a double and to a double-double: the angle is close to a multiple of pi/2.
  const DoubleDouble half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  ExpectExact({half_pi.high, half_pi}, {1, 2, 3, 4, 5, 1023, 0x1p52}, {1.0, 0.7});
}

TEST(PreciseCosSin, RoundsTinyAngles) {
  ExpectExact({0x1p-30,
               0x1p-63,
               0x1p-64,
               0x1p-65,
               0x1.fffffffffffffp-66,
               0x1p-300,
               1e-310,
               0x1p-1074,
               {0x1p-70, -0x1p-130}},
              {1, -3, 0x1p52 + 1, 0x1p53 - 1}, {1.0, 0x1.8p-1, {1.0, 0x1p-53}});
}

// The angle is halfway between two doubles. The sine is slightly smaller, so it rounds down.
TEST(PreciseCosSin, SineOfATinyTieRoundsDown) {
  ExpectExact({{0x1p-300, 0x1p-353}, {0x1.8p-300, 0x1p-353}, {0x1.0000000000001p-300, 0x1p-353}},
              {1}, {1.0});
  EXPECT_EQ(PreciseCosSin({0x1.0000000000001p-300, 0x1p-353}, 1, 1.0).sine.high,
            0x1.0000000000001p-300);
}

TEST(PreciseCosSin, RoundsOnceIntoSubnormals) {
  ExpectExact({1.0, 0.3, 0x1p-40}, {1, 2, 7, 100},
              {0x1p-950, 0x1.23456789abcdep-1020, 0x1.23456789abcdep-1040, 0x1p-1073, 0x1p-1074,
               -0x1.8p-1072, 0x1.fffffffffffffp+1023});
}

TEST(PreciseCosSin, AngleZeroIsExact) {
  const DoubleDouble tie = {1, 0x1p-53};
  for (const auto& [f, p] : {std::pair(0.0, 5.0), std::pair(0.5, 0.0)}) {
    EXPECT_EQ(PreciseCosSin(f, p, tie).cosine, tie);
    EXPECT_EQ(PreciseCosSin(f, p, tie).sine, DoubleDouble(0));
  }
  EXPECT_EQ(PreciseCosSin(1.0, 1, 0.0).cosine, DoubleDouble(0));
  EXPECT_TRUE(std::isnan(PreciseCosSin(2.0, 0x1p53, 1.0).cosine.high));
}

}  // namespace
}  // namespace sextant::fast
