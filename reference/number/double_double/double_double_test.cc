#include "reference/number/double_double/double_double.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/mpfr.hpp>
#include <vector>

#include "reference/base/splitmix64.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/double_double/double_double_functions.h"

namespace sextant {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<120>>;

Real ToReal(const DoubleDouble& a) { return Real(a.high) + a.low; }

class RandomPairs : public SplitMix64 {
 public:
  RandomPairs() : SplitMix64(1) {}
  // Binades from 2^-exponent to 2^exponent, all equally likely; low parts from 0 to the largest
  // that the invariant permits.
  DoubleDouble Number(int exponent) {
    const double sign = Bits() % 2 ? 1 : -1;
    const double high =
        sign * std::ldexp(Uniform(1, 2), static_cast<int>(Uniform(-exponent, exponent)));
    const double low = high * Uniform(-0x1p-53, 0x1p-53) * (Bits() % 8 ? 1 : 0x1p-40);
    return TwoSum(high, Bits() % 8 ? low : 0);
  }
};

constexpr int kCount = 2000;

// Checks |got - exact| <= units 2^-106 scale, and the invariant of double-double numbers.
void ExpectWithin(double units, const DoubleDouble& got, const Real& exact, const Real& scale) {
  EXPECT_EQ(got.high, got.high + got.low);
  const Real error = boost::multiprecision::abs(ToReal(got) - exact);
  const Real unit = boost::multiprecision::abs(scale) * 0x1p-106;
  EXPECT_LE(error, unit * units) << "high part " << std::hexfloat << got.high;
}

void ExpectWithin(double units, const DoubleDouble& got, const Real& exact) {
  ExpectWithin(units, got, exact, exact);
}

TEST(DoubleDouble, RepresentsEveryInt64) {
  for (int64_t n : {INT64_MAX, INT64_MIN, INT64_MAX - 1024, int64_t{1} << 53, int64_t{-1}}) {
    EXPECT_EQ(ToReal(DoubleDouble(n)), Real(n));
  }
}

TEST(DoubleDouble, ComparesHighPartsThenLowParts) {
  const DoubleDouble one = 1.0, more{1, 0x1p-80}, less{1, -0x1p-80};
  EXPECT_LT(less, one);
  EXPECT_LT(one, more);
  EXPECT_EQ(abs(-more), more);
}

TEST(DoubleDouble, ExactHelpersAreExact) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const double a = random.Number(60).high, b = random.Number(60).high;
    EXPECT_EQ(ToReal(TwoSum(a, b)), Real(a) + b);
    EXPECT_EQ(ToReal(TwoProduct(a, b)), Real(a) * b);
  }
}

TEST(DoubleDouble, ArithmeticKeepsItsBounds) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const DoubleDouble a = random.Number(30), b = random.Number(30);
    const Real ra = ToReal(a), rb = ToReal(b);
    ExpectWithin(3.01, a + b, ra + rb);
    ExpectWithin(3.01, a - b, ra - rb);
    ExpectWithin(5, a * b, ra * rb);
    ExpectWithin(15.01, a / b, ra / rb);
    ExpectWithin(2, a + b.high, ra + b.high);
    ExpectWithin(2, a * b.high, ra * b.high);
    ExpectWithin(3, a / b.high, ra / b.high);
    ExpectWithin(3.13, sqrt(abs(a)), sqrt(abs(ra)));
  }
}

// Cancelling 50 bits loses no accuracy.
TEST(DoubleDouble, SumKeepsItsBoundUnderCancellation) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const DoubleDouble a = random.Number(2), b = a * (1 + random.Uniform(-1, 1) * 0x1p-50);
    ExpectWithin(3.01, a - b, ToReal(a) - ToReal(b));
  }
}

// Whole, nearly cancelled and exactly representable sums.
TEST(DoubleDouble, SumStatesItsRoundings) {
  RandomPairs random;
  size_t exact = 0;
  for (int i = 0; i < kCount; ++i) {
    const DoubleDouble a = random.Number(30);
    const DoubleDouble others[] = {random.Number(30), a * -(1 + random.Uniform(-1, 1) * 0x1p-50),
                                   DoubleDouble(a.low), -a, DoubleDouble(0)};
    const DoubleDouble& b = others[i % 5];
    double error = 0.25;
    const DoubleDouble sum = Sum(a, b, error);
    EXPECT_EQ(sum, a + b);
    const Real distance = boost::multiprecision::abs(ToReal(sum) - (ToReal(a) + ToReal(b)));
    double stated = 0;
    Sum(a, b, stated);
    EXPECT_EQ(error, 0.25 + stated);              // it adds to the number
    EXPECT_LE(distance, stated * (1 + 0x1p-52));  // `stated` is a rounded sum of two numbers
    EXPECT_LE(stated, std::abs(a.high) * 0x1p-100 + std::abs(b.high) * 0x1p-100);
    exact += stated == 0;
  }
  EXPECT_GT(exact, size_t{kCount / 3});
  EXPECT_LT(exact, size_t{kCount * 9 / 10});
}

TEST(DoubleDouble, ExponentialKeepsItsBound) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const DoubleDouble a = random.Number(9);
    if (abs(a) < DoubleDouble(600)) ExpectWithin(12, exp(a), exp(ToReal(a)));
  }
  EXPECT_EQ(exp(DoubleDouble(0)), DoubleDouble(1));
  EXPECT_EQ(exp(DoubleDouble(-1e300)).high, 0);
}

TEST(DoubleDouble, LogarithmKeepsItsBound) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const DoubleDouble a = abs(random.Number(800));
    ExpectWithin(33, log(a), log(ToReal(a)));
    const DoubleDouble near_one = DoubleDouble(1) + random.Number(60) * 0x1p-61;
    ExpectWithin(33, log(near_one), log(ToReal(near_one)));
  }
  EXPECT_EQ(log(DoubleDouble(1)), DoubleDouble(0));
}

TEST(DoubleDouble, PowerKeepsItsBound) {
  RandomPairs random;
  for (int i = 0; i < kCount; ++i) {
    const double base = i % 2 ? 10000 : abs(random.Number(40)).high;
    const int64_t q = 1 + random.Bits() % 256,
                  p = static_cast<int64_t>(random.Bits() % (2 * q)) - q;
    ExpectWithin(24, Power(base, p, q), pow(Real(base), Real(p) / q));
  }
  ExpectWithin(14 + 70, Power(3, 7, 1), 2187);
  ExpectWithin(19, Power(65536, -1, 2), Real(1) / 256);
  ExpectWithin(24, Power(2, INT64_C(1) << 52, INT64_C(1) << 52), 2);
  EXPECT_EQ(Power(7, 0, 5), DoubleDouble(1));
}

TEST(DoubleDouble, SineAndCosineKeepTheirBounds) {
  RandomPairs random;
  std::vector<DoubleDouble> angles = {0.0,    kPi * 0.5, kPi, kPi * 0.25,
                                      0x1p53, -0x1p53,   1.0, 0x1p52};
  // Integers very near to multiples of pi/2: numerators of convergents.
  for (double n : {11.0, 355.0, 103993.0, 5419351.0, 6167950454.0, 21053343141.0}) {
    angles.push_back(n);
  }
  for (int i = 0; i < kCount; ++i) {
    angles.push_back(random.Number(52));
    angles.push_back(TwoSum(random.Uniform(0x1p52, 0x1p53 - 1), random.Uniform(-.5, .5)));
    angles.push_back(kPi * (0.25 * std::floor(random.Uniform(-0x1p30, 0x1p30))));
  }
  for (const DoubleDouble& angle : angles) {
    const auto [s, c] = SinCos(angle);
    const Real exact = sin(ToReal(angle));
    ExpectWithin(13, s, exact, 1);
    ExpectWithin(13, c, cos(ToReal(angle)), 1);
    if (abs(angle) <= DoubleDouble(0.03125)) ExpectWithin(4, s, exact);
  }
  EXPECT_TRUE(std::isnan(SinCos(0x1.0000000000001p53).sine.high));
}

std::vector<DoubleDouble> AllFunctions(const DoubleDouble& a) {
  const auto [sine, cosine] = SinCos(a);
  return {exp(a),         log(abs(a)), Power(std::abs(a.high), 2, 3),
          sine,           cosine,      tanh(a),
          sigmoid(a),     erf(a),      erfc(a),
          erf(a * 0x1p-4)};
}

// With and without fused operations.
TEST(DoubleDouble, FunctionsHaveTheSameBitsOnEveryTarget) {
  std::vector<std::vector<DoubleDouble>> expected;
  bool first = true;
  OnEveryTarget([&] {
    RandomPairs random;
    for (size_t i = 0; i < 500; ++i) {
      const std::vector<DoubleDouble> results = AllFunctions(random.Number(8));
      if (first) expected.push_back(results);
      EXPECT_EQ(results, expected.at(i));
    }
    first = false;
  });
}

}  // namespace
}  // namespace sextant
