#include "reference/number/dot/dot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

using Intervals = std::vector<Interval>;

Interval Prepared(const Intervals& a, const Intervals& b) {
  return Dot(DotOperand<Interval>(a), DotOperand<Interval>(b));
}

// The same sum of points with a precision at which it is exact.
Interval Exactly(const Intervals& a, const Intervals& b) {
  const ScopedPrecision enough(6000);
  Interval sum(0.0);
  for (size_t i = 0; i < a.size(); ++i) {
    Interval x(0.0), y(0.0);
    x = x + a[i];
    y = y + b[i];
    sum = sum + x * y;
  }
  EXPECT_TRUE(sum.IsPoint());
  return sum;
}

// Expects the tightest enclosure of the point.
void ExpectTightest(const Interval& y, const Interval& point) {
  Endpoint down, up;
  mpfr_set(down.get(), point.lower().get(), MPFR_RNDD);
  mpfr_set(up.get(), point.lower().get(), MPFR_RNDU);
  EXPECT_TRUE(mpfr_equal_p(y.lower().get(), down.get()));
  EXPECT_TRUE(mpfr_equal_p(y.upper().get(), up.get()));
}

Intervals Points(Random& random, size_t n, int exponent) {
  Intervals points;
  for (size_t i = 0; i < n; ++i) {
    points.emplace_back(random.Below(8) == 0 ? 0 : random.Number(exponent));
  }
  return points;
}

TEST(DotOfIntervals, IsRoundedOnceForPoints) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const size_t n = random.Below(20);
    const int exponent = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 40 : 500;
    const Intervals a = Points(random, n, exponent), b = Points(random, n, exponent);
    const Interval exact = Exactly(a, b);
    const ScopedPrecision precision(184);
    ExpectTightest(Prepared(a, b), exact);
  }
}

// The largest and the smallest double: 2100 binary places between them.
TEST(DotOfIntervals, IsExactForPointsFarApart) {
  const ScopedPrecision precision(184);
  const Intervals a = {Interval(0x1p1023), Interval(0x1p-1074), Interval(-0x1p1023)};
  const Intervals b = {Interval(0x1p1000), Interval(3.0), Interval(0x1p1000)};
  const Interval y = Prepared(a, b);
  EXPECT_TRUE(y.IsPoint());
  EXPECT_EQ(Middle(y), 3 * 0x1p-1074);
}

TEST(DotOfIntervals, PropagatesCarriesThroughAllLimbs) {
  const ScopedPrecision precision(184);
  const Intervals ones(100000, Interval(1 - 0x1p-53));
  ExpectTightest(Prepared(ones, ones),
                 Interval(1 - 0x1p-53) * Interval(1 - 0x1p-53) * Interval(100000.0));
}

// A row of quotients, which are not points, and a second row, of numbers or of quotients.
struct Quotients {
  std::vector<double> top, bottom, factor;
  bool both;

  Quotients(Random& random, bool both) : both(both) {
    const size_t n = 1 + random.Below(20);
    for (size_t i = 0; i < n; ++i) {
      top.push_back(random.Below(8) == 0 ? 0 : random.Number(20));
      bottom.push_back(random.Uniform(1, 2));
      factor.push_back(random.Number(20));
    }
  }
  Intervals Over(const std::vector<double>& of) const {
    Intervals all;
    for (size_t i = 0; i < of.size(); ++i) all.push_back(Interval(of[i]) / Interval(bottom[i]));
    return all;
  }
  // At the precision of the thread.
  Intervals Row() const { return Over(top); }
  Intervals Factors() const {
    if (both) return Over(factor);
    Intervals b;
    for (const double x : factor) b.emplace_back(x);
    return b;
  }
  double SizeOfProducts() const {
    double size = 0;
    for (size_t i = 0; i < top.size(); ++i) size += std::abs(top[i] * factor[i]);
    return size;
  }
};

Interval SumOfProducts(const Intervals& a, const Intervals& b) {
  Interval sum(0.0);
  for (size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}

// The enclosure must hold the dot product of the exact quotients, and must not be much wider than
// the sum of the products of the enclosures.
TEST(DotOfIntervals, IsNarrowForNarrowEnclosures) {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Quotients quotients(random, trial % 2 == 0);
    Interval exact;
    {
      const ScopedPrecision more(384);
      exact = SumOfProducts(quotients.Row(), quotients.Factors());
    }
    const ScopedPrecision precision(184);
    const Interval y = Prepared(quotients.Row(), quotients.Factors());
    EXPECT_TRUE(mpfr_lessequal_p(y.lower().get(), exact.lower().get()));
    EXPECT_TRUE(mpfr_lessequal_p(exact.upper().get(), y.upper().get()));
    Endpoint width;
    mpfr_sub(width.get(), y.upper().get(), y.lower().get(), MPFR_RNDU);
    // The widths of products of 184-bit enclosures, and of integers with 64 bits more than those of
    // the largest number.
    EXPECT_LE(mpfr_get_d(width.get(), MPFR_RNDU),
              quotients.SizeOfProducts() * 0x1p-180 +
                  static_cast<double>(quotients.top.size()) * 0x1p-200);
  }
}

// Enclosures, some of them around 0.
TEST(DotOfIntervals, HoldsTheExactValueForWideEnclosures) {
  Random random(3);
  const ScopedPrecision precision(184);
  for (int trial = 0; trial < 200; ++trial) {
    Intervals a, b, inside_a, inside_b;
    const auto add = [&](Intervals& wide, Intervals& inside) {
      const double x = random.Uniform(-2, 2);
      inside.emplace_back(x);
      const ScopedPrecision few(2 + static_cast<int>(random.Below(60)));
      wide.push_back(random.Below(4) ? Interval(x) : Interval(3 * x) - Interval(2 * x));
      if (random.Below(4) == 0) wide.back() = inside.back();
    };
    for (size_t i = 0; i < 9; ++i) {
      add(a, inside_a);
      add(b, inside_b);
    }
    const Interval y = Prepared(a, b), point = Prepared(inside_a, inside_b);
    EXPECT_TRUE(mpfr_lessequal_p(y.lower().get(), point.lower().get()));
    EXPECT_TRUE(mpfr_lessequal_p(point.upper().get(), y.upper().get()));
  }
}

TEST(DotOfIntervals, IsNotSpecifiedIfATermIsNot) {
  const Intervals a = {Interval(1.0), Interval(INFINITY)}, b = {Interval(1.0), Interval(0.0)};
  EXPECT_FALSE(Prepared(a, b).IsSpecified());
  EXPECT_FALSE(Prepared(b, a).IsSpecified());
}

TEST(DotOfIntervals, IsZeroForEmptyRows) {
  const Interval y = Prepared(Intervals(), Intervals());
  EXPECT_TRUE(y.IsPoint());
  EXPECT_EQ(Middle(y), 0);
}

// A random operand: exact in f32 or not, with or without an error, 0, a power of two, or a number
// that overflows or underflows in narrower formats.
Counted AnyCounted(Random& random, int exponent) {
  const double any = std::clamp(random.Number(exponent), -0x1p127, 0x1p127);
  const Counted exact(RoundTo(DType::kF32, any), DType::kF32);
  const ScopedStep at(Step::kSquare);
  switch (random.Below(6)) {
    case 0:
      return Counted(random.Below(2) ? 0.0 : 4.0, DType::kF32);
    case 1:
      return Counted(any);
    case 2:
      return exact * Counted(1.1);
    case 3:
      return Exp(Counted(random.Uniform(-2, 2)));
    default:
      return exact;
  }
}

// The prepared dot product gives exactly the bounds of the operators.
TEST(DotOfCounted, IsTheSumOfTheProducts) {
  Random random(4);
  const std::vector<std::string> recipes = {"*=f32",
                                            "*=f64",
                                            "*=f32 dot=bf16",
                                            "*=f32 dot=f16",
                                            "*=exact",
                                            "*=f32 flush",
                                            "*=f32 square=bf16 dot=f32:pairwise"};
  for (int trial = 0; trial < 700; ++trial) {
    const Recipe recipe = ParseRecipe(random.OneOf(recipes), DType::kF32);
    const ScopedRecipe following(recipe, DType::kF32);
    const int exponent = trial % 5 == 0 ? 140 : 6;
    std::vector<Counted> a, b, products;
    for (size_t n = random.Below(9); n > 0; --n) {
      a.push_back(AnyCounted(random, exponent));
      b.push_back(AnyCounted(random, exponent));
      const ScopedStep at(Step::kDot);
      products.push_back(a.back() * b.back());
    }
    const Counted y = Dot<Counted>(a, b);
    const ScopedStep at(Step::kDot);
    const Counted sum = SumOf(products);
    EXPECT_EQ(y.center(), sum.center()) << recipe.name;
    EXPECT_EQ(y.drift(), sum.drift()) << recipe.name;
    EXPECT_EQ(y.Permitted(), sum.Permitted()) << recipe.name;
    EXPECT_EQ(y.Likely(), sum.Likely()) << recipe.name;
  }
}

}  // namespace
}  // namespace sextant
