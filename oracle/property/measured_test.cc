#include "oracle/property/measured.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "oracle/property/property.h"

namespace sextant::oracle {
namespace {

TEST(Measured, PlainNumbersAreExact) {
  EXPECT_EQ(Measured(2).value(), 2);
  EXPECT_EQ(Measured(2).error(), 0);
}

// (3 +- 1/2) (5 +- 1/4): error 3 / 4 + 5 / 2 + 1 / 8, plus the rounding of the product.
TEST(Measured, ProductsCarryBothErrorsAndTheirProduct) {
  const Measured product = Measured(3, 0.5) * Measured(5, 0.25);
  EXPECT_EQ(product.value(), 15);
  EXPECT_GE(product.error(), 3.375);
  EXPECT_LE(product.error(), 3.375 + 0x1p-40);
}

TEST(Measured, SumsAndDifferencesAddErrors) {
  for (const Measured& sum :
       {Measured(3, 0.5) + Measured(5, 0.25), Measured(3, 0.5) - Measured(-5, 0.25)}) {
    EXPECT_EQ(sum.value(), 8);
    EXPECT_GE(sum.error(), 0.75);
    EXPECT_LE(sum.error(), 0.75 + 0x1p-40);
  }
}

// 1 + 2^-60 rounds to 1.
TEST(Measured, IncludesItsOwnRounding) {
  const Measured sum = Measured(1) + Measured(0x1p-60);
  EXPECT_EQ(sum.value(), 1);
  EXPECT_GE(sum.error(), 0x1p-60);
  EXPECT_GT((Measured(0x1p-600) * Measured(0x1p-600)).error(), 0);
}

// 1/3 exceeds the nearest double by 2^-54 / 3.
TEST(Measured, ErrorOfNearestIsHalfAnUlp) {
  const Measured third = Nearest(1.0 / 3);
  EXPECT_EQ(third.value(), 1.0 / 3);
  EXPECT_GE(third.error(), 0x1p-54 / 3);
  EXPECT_LE(third.error(), 0x1p-54);
}

TEST(Measured, ValueDoesNotMatterIfTheErrorIsInfinite) {
  for (const double value : {1.0, kInfinity, kNaN}) {
    const Measured product = Measured(value, kInfinity) * Measured(0);
    EXPECT_EQ(product.value(), 0);
    EXPECT_EQ(product.error(), kInfinity);
  }
}

TEST(Measured, NonfiniteValueWithFiniteErrorStaysNaN) {
  for (const double value : {kInfinity, kNaN}) {
    EXPECT_TRUE(std::isnan((Measured(value, 0.5) * Measured(0)).value()));
    EXPECT_TRUE(std::isnan((Measured(1, kInfinity) + Measured(value, 0.5)).value()));
  }
}

TEST(Measured, OverflowGivesAnInfiniteError) {
  const Measured square = Measured(1e300) * Measured(1e300);
  EXPECT_EQ(square.error(), kInfinity);
}

// Numbers with 20 bits, so the sums and products below are exact in double.
RC_GTEST_PROP(Measured, ContainsTheExactResult, ()) {
  const auto number = [] { return *rc::gen::inRange(-1000, 1001) * 0x1p-10; };
  const double x = number(), y = number(), e = std::abs(number()), f = std::abs(number());
  const double dx = e * *rc::gen::inRange(-8, 9) / 8, dy = f * *rc::gen::inRange(-8, 9) / 8;
  const Measured a(x + dx, e), b(y + dy, f);
  const auto contains = [](const Measured& m, double exact) {
    return std::abs(m.value() - exact) <= m.error();
  };
  RC_ASSERT(contains(a + b, x + y));
  RC_ASSERT(contains(a - b, x - y));
  RC_ASSERT(contains(a * b, x * y));
}

}  // namespace
}  // namespace sextant::oracle
