#include "reference/number/exact/interval.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/mpfr.hpp>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/clamp.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// 1400 bits: sums and products of the doubles below are exact.
using Exact = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<420>>;

Exact Lower(const Interval& x) { return Exact(x.lower().get()); }
Exact Upper(const Interval& x) { return Exact(x.upper().get()); }
std::pair<double, double> Ends(const Interval& x) {
  return {static_cast<double>(Lower(x)), static_cast<double>(Upper(x))};
}
using Pair = std::pair<double, double>;

// An interval with few bits around x: it is not a point.
Interval Around(double x, int bits) {
  const ScopedPrecision precision(bits);
  return Interval(x);
}

// [1, 1.5] and intervals computed from it, which can be verified by hand.
const Interval kPositive = Around(1.2, 2);
const Interval kNegative = -kPositive;
const Interval kCrossing = kPositive - kPositive;    // [-0.5, 0.5]
const Interval kFromZero = kPositive - Interval(1);  // [0, 0.5]
const Interval kToZero = Interval(1) - kPositive;    // [-0.5, 0]

TEST(Interval, MultipliesForAllSigns) {
  EXPECT_EQ(Ends(kPositive), Pair(1, 1.5));
  EXPECT_EQ(Ends(kCrossing), Pair(-0.5, 0.5));
  EXPECT_EQ(Ends(kPositive * kPositive), Pair(1, 2.25));
  EXPECT_EQ(Ends(kPositive * kNegative), Pair(-2.25, -1));
  EXPECT_EQ(Ends(kNegative * kPositive), Pair(-2.25, -1));
  EXPECT_EQ(Ends(kNegative * kNegative), Pair(1, 2.25));
  EXPECT_EQ(Ends(kCrossing * kPositive), Pair(-0.75, 0.75));
  EXPECT_EQ(Ends(kPositive * (kCrossing + Interval(0.25))), Pair(-0.375, 1.125));
  EXPECT_EQ(Ends(kNegative * (kCrossing + Interval(0.25))), Pair(-1.125, 0.375));
  EXPECT_EQ(Ends((kCrossing + Interval(0.25)) * kNegative), Pair(-1.125, 0.375));
  // [-0.25, 0.75] [-0.5, 0.5]: the extremes come from both pairs of ends.
  EXPECT_EQ(Ends((kCrossing + Interval(0.25)) * kCrossing), Pair(-0.375, 0.375));
  EXPECT_EQ(Ends((kCrossing + Interval(0.25)) * (kCrossing - Interval(0.25))),
            Pair(-0.5625, 0.1875));
  EXPECT_EQ(Ends(kFromZero * kNegative), Pair(-0.75, 0));
  EXPECT_EQ(Ends(kToZero * kNegative), Pair(0, 0.75));
}

TEST(Interval, DividesForAllSigns) {
  const Interval two_to_three = kPositive * Interval(2);
  EXPECT_EQ(Ends(two_to_three / Interval(2)), Pair(1, 1.5));
  EXPECT_EQ(Ends(Interval(6) / two_to_three), Pair(2, 3));
  EXPECT_EQ(Ends(Interval(-6) / two_to_three), Pair(-3, -2));
  EXPECT_EQ(Ends(Interval(6) / -two_to_three), Pair(-3, -2));
  EXPECT_EQ(Ends(Interval(-6) / -two_to_three), Pair(2, 3));
  EXPECT_EQ(Ends(kCrossing / Around(0.3, 1)), Pair(-2, 2));  // [0.25, 0.5]
  EXPECT_EQ(Ends(Interval(0) / kNegative), Pair(0, 0));
}

TEST(Interval, DivisorThatMayBeZeroIsUndecided) {
  EXPECT_THROW(Interval(1) / kCrossing, Undecided);
  EXPECT_THROW(Interval(1) / kFromZero, Undecided);
  EXPECT_THROW(Interval(1) / kToZero, Undecided);
  EXPECT_FALSE((Interval(1) / Interval(0)).IsSpecified());
  EXPECT_FALSE((Interval(0) / Interval(0)).IsSpecified());
}

TEST(Interval, ComparesOnlyDisjointIntervals) {
  EXPECT_TRUE(Less(kNegative, kPositive));
  EXPECT_FALSE(Less(kPositive, kNegative));
  EXPECT_FALSE(Less(Interval(1), Interval(1)));
  EXPECT_FALSE(Less(kPositive, Interval(1)));  // no number in [1, 1.5] is less than 1
  EXPECT_THROW(Less(kPositive, kPositive), Undecided);
  EXPECT_THROW(Less(Interval(1), kPositive), Undecided);
  EXPECT_THROW(Less(kCrossing, Interval(0)), Undecided);
}

TEST(Interval, RootsAndLogarithmsOfPossiblyNegativeNumbersAreUndecided) {
  EXPECT_EQ(Ends(Sqrt(kPositive * kPositive)), Pair(1, 1.5));
  EXPECT_THROW(Sqrt(kCrossing), Undecided);
  EXPECT_FALSE(Sqrt(kNegative).IsSpecified());
  EXPECT_EQ(Ends(Sqrt(Interval(0))), Pair(0, 0));
  EXPECT_THROW(Log(kFromZero), Undecided);
  EXPECT_FALSE(Log(Interval(0)).IsSpecified());
  EXPECT_EQ(Ends(Log(Interval(1))), Pair(0, 0));
}

TEST(Interval, NotSpecifiedOperandsGiveNotSpecifiedResults) {
  const Interval infinite(INFINITY), nan(NAN), one(1), unset;
  for (const Interval& x : {infinite, nan, unset}) {
    EXPECT_FALSE(x.IsSpecified());
    for (const Interval& y : {x + one, one - x, x * one, one / x, x / one, Interval(0) * x, Sqrt(x),
                              Exp(x), Log(x), CosSin(x).first, CosSin(x).second}) {
      EXPECT_FALSE(y.IsSpecified());
    }
  }
}

// Precisions of 2 to 10 bits: wide intervals of every sign, around numbers that are known exactly.
TEST(SlowInterval, EnclosesRandomPoints) {
  Random random(1);
  for (int i = 0; i < 6000; ++i) {
    const ScopedPrecision precision(2 + static_cast<int>(random.Below(9)));
    double x[4];
    for (double& value : x) value = random.Number(3);
    const Interval a = Interval(x[0]) + Interval(x[1]), b = Interval(x[2]) - Interval(x[3]);
    const Exact p = Exact(x[0]) + x[1], q = Exact(x[2]) - x[3];
    const auto expect = [&](const Interval& y, const Exact& exact) {
      EXPECT_LE(Lower(y), exact) << p << " " << q;
      EXPECT_LE(exact, Upper(y)) << p << " " << q;
    };
    expect(a + b, p + q);
    expect(a - b, p - q);
    expect(a * b, p * q);
    expect(Exp(a), exp(p));
    expect(CosSin(a).first, cos(p));
    expect(CosSin(a).second, sin(p));
    try {
      expect(a / b, p / q);
      if (p > 0) expect(Sqrt(a), sqrt(p));
      if (q > 0) expect(Log(b), log(q));
    } catch (const Undecided&) {
    }
  }
}

// At 192 bits an operation on numbers of 53 bits errs by at most the last bits.
TEST(Interval, IsAsNarrowAsItsPrecisionAllows) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Interval a(random.Number(30)), b(random.Number(30));
    const Interval positive(std::abs(random.Number(9)));
    for (const Interval& y :
         {a + b, a * b, a / b, Sqrt(positive), Log(positive), Exp(positive / Interval(3))}) {
      EXPECT_LE(Upper(y) - Lower(y), abs(Upper(y)) * Exact(0x1p-180)) << Upper(y);
    }
    const auto [cosine, sine] = CosSin(a);
    EXPECT_LE(Upper(cosine) - Lower(cosine), Exact(0x1p-190));
    EXPECT_LE(Upper(sine) - Lower(sine), Exact(0x1p-190));
  }
}

TEST(Interval, ExactOperandsWithAnExactResultStayPoints) {
  const Interval tenth(0.1);
  EXPECT_TRUE((tenth * tenth).IsPoint());
  EXPECT_TRUE((tenth + Interval(1e-9)).IsPoint());
  EXPECT_TRUE((Interval(6) / Interval(3)).IsPoint());
  EXPECT_FALSE((Interval(1) / Interval(3)).IsPoint());
  EXPECT_TRUE(Sqrt(Interval(2.25)).IsPoint());
  EXPECT_TRUE(Exp(Interval(0)).IsPoint());
  EXPECT_TRUE(CosSin(Interval(0)).first.IsPoint());
  EXPECT_TRUE(CosSin(Interval(0)).second.IsPoint());
}

TEST(Interval, RationalPowersArePointsIfRepresentable) {
  const auto point = [](double base, int64_t p, int64_t q, double expected) {
    const Interval y = EnclosePower(base, p, q);
    EXPECT_TRUE(y.IsPoint()) << base << "^(" << p << "/" << q << ")";
    EXPECT_EQ(Ends(y), Pair(expected, expected));
  };
  point(65536, -1, 2, 1.0 / 256);
  point(65536, -6, 16, 1.0 / 64);  // lowest terms: 3/8
  point(0x1p-20, 3, 4, 0x1p-15);
  point(0.25, -1, 2, 2);
  point(10000, 2, 4, 100);
}

TEST(Interval, ZerothPowersAreOne) { EXPECT_EQ(Ends(EnclosePower(10000, 0, 64)), Pair(1, 1)); }

TEST(Interval, IrrationalPowersAreEnclosed) {
  EXPECT_FALSE(EnclosePower(2, 1, 2).IsPoint());
  EXPECT_FALSE(EnclosePower(10000, -1, 3).IsPoint());
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const double base = i % 2 ? 500000 : std::abs(random.Number(20));
    const auto q = static_cast<int64_t>(1 + random.Below(128));
    const auto p = static_cast<int64_t>(random.Below(200)) - 100;
    const Interval y = EnclosePower(base, p, q);
    const Exact exact = pow(Exact(base), Exact(p) / q);
    EXPECT_LE(Lower(y), exact * (1 + Exact(0x1p-1000)));
    EXPECT_GE(Upper(y), exact * (1 - Exact(0x1p-1000)));
    EXPECT_LE(Upper(y) - Lower(y), exact * Exact(0x1p-170));
  }
}

// RowScale divides by the root, it does not multiply by the reciprocal: rational results are
// points.
TEST(Interval, RowScaleGivesPointsForRationalResults) {
  const RowScale<Interval> nine(Interval(9));
  EXPECT_TRUE(nine(Interval(1), Interval(3)).IsPoint());
  EXPECT_EQ(Ends(nine(Interval(1), Interval(3))), Pair(1, 1));
  const Interval x(0.1);
  EXPECT_EQ(Ends(RowScale<Interval>(x * x)(x, Interval(1))), Pair(1, 1));
  const Interval e = Exp(Interval(1));
  EXPECT_FALSE((e / e).IsPoint());  // the enclosure does not show that this is 1
  EXPECT_FALSE(Decide(e / e * Interval(1 + 0x1p-24), DType::kF32));  // a tie
}

TEST(Interval, TwoPiIsEnclosed) {
  const Exact two_pi = 2 * boost::math::constants::pi<Exact>();
  const Interval y = TwoPi<Interval>();
  EXPECT_LT(Lower(y), two_pi);
  EXPECT_GT(Upper(y), two_pi);
  EXPECT_LE(Upper(y) - Lower(y), Exact(0x1p-188));
}

TEST(Interval, AngleTableEnclosesCosAndSinOfTheAngle) {
  Random random(4);
  for (const double frequency : {1.0, 0.1, 1e-4}) {
    AngleTable<Interval> table{Interval(frequency)};
    for (const double position :
         {0.0, 1.0, 63.0, 64.0, 65.0, -1.0, -64.0, -65.0, 131071.0, 0x1p40, -0x1p40 + 3}) {
      const auto [cosine, sine] = table(position);
      const Exact angle = Exact(position) * frequency;
      EXPECT_LE(Lower(cosine), cos(angle));
      EXPECT_GE(Upper(cosine), cos(angle));
      EXPECT_LE(Lower(sine), sin(angle));
      EXPECT_GE(Upper(sine), sin(angle));
      EXPECT_LE(Upper(sine) - Lower(sine), Exact(0x1p-140));
    }
  }
}

TEST(Interval, RadiusAndMiddleDescribeTheEnclosure) {
  EXPECT_EQ(Middle(kPositive), 1.25);
  EXPECT_EQ(RadiusAround(kPositive, 1.25, 0), 0.25);
  EXPECT_EQ(RadiusAround(kPositive, 1, 0.125), 0.375);
  EXPECT_EQ(RadiusAround(Interval(1), 1, 0), 0);
  EXPECT_EQ(RadiusAround(Interval(1), 2, 0), 1);
}

TEST(ScopedPrecision, RestoresThePreviousPrecision) {
  const auto bits = [] { return mpfr_get_prec(Interval(1).lower().get()); };
  const auto before = bits();
  {
    const ScopedPrecision more(3000);
    EXPECT_EQ(bits(), 3000);
    Interval wide(0.5);
    wide = Interval(1) / Interval(3);
    const Interval copy = wide;  // more bits than fit inside the object
    EXPECT_LT(Upper(copy) - Lower(copy), Exact(0x1p-1000));
  }
  EXPECT_EQ(bits(), before);
}

// Overlapping intervals decide no comparison, but a largest number and a limit.
TEST(Interval, MaxAndClampDecideNothing) {
  EXPECT_THROW(Less(kCrossing, kFromZero), Undecided);
  EXPECT_EQ(Ends(Max(kCrossing, kFromZero)), Pair(0, 0.5));
  EXPECT_EQ(Ends(Max(kPositive, kNegative)), Pair(1, 1.5));
  EXPECT_EQ(Ends(Clamp(kCrossing, kToZero, kFromZero)), Pair(-0.5, 0.5));
  EXPECT_EQ(Ends(Clamp(kPositive, Interval(0.0), Interval(1.25))), Pair(1, 1.25));
  EXPECT_EQ(Ends(Clamp(kPositive, Interval(2.0), Interval(3.0))), Pair(2, 2));
  EXPECT_FALSE(Max(kPositive, Interval(kNaN)).IsSpecified());
}

}  // namespace
}  // namespace sextant
