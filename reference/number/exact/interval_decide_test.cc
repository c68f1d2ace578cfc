#include <gtest/gtest.h>

#include <cmath>

#include "reference/case/random_test.h"
#include "reference/number/exact/interval.h"

namespace sextant {
namespace {

// [1, 1.5]: the neighbours of 1.2 among two-bit numbers.
Interval AroundOne() {
  const ScopedPrecision precision(2);
  return Interval(1.2);
}

TEST(Decide, RoundsPointsOnceTiesToEven) {
  const auto value = [](double x, double y, DType type) {
    return Decide(Interval(x) + Interval(y), type)->value;
  };
  EXPECT_EQ(value(1, 0x1p-24, DType::kF32), 1);                      // a tie, 1 is even
  EXPECT_EQ(value(1 + 0x1p-23, 0x1p-24, DType::kF32), 1 + 0x1p-22);  // a tie, up to even
  EXPECT_EQ(value(1 + 0x1p-24, 0x1p-90, DType::kF32),
            1 + 0x1p-23);  // just above a tie: no double rounding
  EXPECT_EQ(value(1 + 0x1p-24, -0x1p-90, DType::kF32), 1);
  EXPECT_EQ(value(1 + 0x3p-24, -0x1p-90, DType::kF32), 1 + 0x1p-23);  // just below a tie
  EXPECT_EQ(value(1, 0x1p-8, DType::kBF16), 1);
  EXPECT_EQ(value(1 + 0x1p-8, 0x1p-90, DType::kBF16), 1 + 0x1p-7);
  EXPECT_EQ(value(1 + 0x1p-11, 0x1p-90, DType::kF16), 1 + 0x1p-10);
  EXPECT_EQ(value(1, 0x1p-53, DType::kF64), 1);
  EXPECT_EQ(value(65519, 0, DType::kF16), 65504);
  EXPECT_EQ(value(65520, 0, DType::kF16), INFINITY);
  EXPECT_EQ(value(0x1p-150, 0x1p-300, DType::kF32),
            0x1p-149);  // above half of the smallest subnormal
  EXPECT_EQ(value(0x1p-150, 0, DType::kF32), 0);
}

TEST(Decide, SplitsIntoTwoDoubles) {
  const auto decision = Decide(Interval(1) / Interval(3), DType::kF32);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->value, 1.0f / 3.0f);
  EXPECT_EQ(decision->high, 1.0 / 3.0);
  // 1/3 = 0.010101...b: high ends at 2^-54, and the remainder is 1/3 of 2^-54. The unit is 2^-74.
  EXPECT_EQ(decision->low, 0x1.55554p-56);
}

// Numbers of 184 bits are split by SplitThreeLimbs, numbers of 400 bits by MPFR. The numbers have
// runs of zeros and ones at all places.
TEST(Decide, SplitsEquallyAtEveryPrecision) {
  Random random(6);
  for (int i = 0; i < 3000; ++i) {
    double parts[4];
    int exponent = static_cast<int>(random.Below(200)) - 100;
    for (double& part : parts) {
      part = std::ldexp(random.Below(2) ? random.Uniform(-1, 1) : (random.Below(2) ? 1 : -1),
                        exponent);
      exponent -= static_cast<int>(random.Below(2) ? 53 : random.Below(56));
    }
    const auto decide = [&](int bits, bool& point) {
      const ScopedPrecision precision(bits);
      Interval sum(0);
      for (const double part : parts) sum = sum + Interval(part);
      point = sum.IsPoint();
      return Decide(sum, DType::kBF16);
    };
    bool exact = false, always = false;
    const auto by_hand = decide(184, exact), by_mpfr = decide(400, always);
    ASSERT_TRUE(always && by_mpfr);
    EXPECT_TRUE(!exact || by_hand);
    if (!by_hand) continue;
    EXPECT_EQ(by_hand->high, by_mpfr->high);
    EXPECT_EQ(by_hand->low, by_mpfr->low);
    EXPECT_EQ(by_hand->value, by_mpfr->value);
  }
}

TEST(Decide, IsEmptyIfTwoAnswersArePossible) {
  const Interval one = Interval(1) / Interval(3) * Interval(3);
  EXPECT_FALSE(Decide(one + Interval(0x1p-24), DType::kF32));  // a tie of f32
  EXPECT_FALSE(Decide(one + Interval(0x1p-53), DType::kF32));  // a tie of f64: high
  EXPECT_FALSE(Decide(one + Interval(0x1p-73), DType::kF32));  // a tie of low
  EXPECT_FALSE(Decide(AroundOne(), DType::kBF16));
}

TEST(Decide, LowIsRoundedToItsUnitTiesToEven) {
  const auto low = [](double high, double rest) {
    const auto wide = Decide(Interval(high) + Interval(rest), DType::kF32);
    const ScopedPrecision precision(400);
    const auto wider = Decide(Interval(high) + Interval(rest), DType::kF32);
    EXPECT_EQ(wide->low, wider->low) << high << " " << rest;
    EXPECT_EQ(wide->high, high);
    return wide->low;
  };
  constexpr double kUnit = 0x1p-72;  // of numbers from 1 to 2
  EXPECT_EQ(UnitOfLow(1.5), kUnit);
  EXPECT_EQ(low(1.5, 0.5 * kUnit), 0);
  EXPECT_EQ(low(1.5, 1.5 * kUnit), 2 * kUnit);
  EXPECT_EQ(low(1.5, -2.5 * kUnit), -2 * kUnit);
  EXPECT_EQ(low(1.5, 2.5 * kUnit + 0x1p-110), 3 * kUnit);
  EXPECT_EQ(low(-1.5, 0x1p-53), 0x1p-53);  // 2^19 units, a tie of high
  // Below a power of two: the unit is that of the power.
  EXPECT_EQ(low(1, -0.75 * kUnit), -kUnit);
  EXPECT_EQ(low(1, -1.5 * kUnit), -2 * kUnit);
  EXPECT_EQ(low(0x1p-1074, 0), 0);  // no double is smaller than the unit
  EXPECT_EQ(UnitOfLow(0), 0x1p-1074);
  EXPECT_EQ(UnitOfLow(0x1p-1040), 0x1p-1074);
}

// `low` rounds to 0, but the side of the tie is known.
TEST(Decide, TiesOfNarrowTypesAreDecidedWhereLowIsZero) {
  for (const double side : {0x1p-90, -0x1p-90}) {
    const auto found = Decide(Interval(1 + 0x1p-24) + Interval(side), DType::kF32);
    EXPECT_EQ(found->low, 0);
    EXPECT_EQ(found->value, side > 0 ? 1 + 0x1p-23 : 1);
  }
}

TEST(Decide, ZeroIsPositive) {
  const auto decision = Decide(-Interval(0), DType::kF32);
  ASSERT_TRUE(decision);
  EXPECT_FALSE(std::signbit(decision->value));
  EXPECT_FALSE(std::signbit(decision->high));
}

}  // namespace
}  // namespace sextant
