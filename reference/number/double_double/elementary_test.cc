#include "reference/number/double_double/elementary.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {
namespace {

using Function = double(double);
using Exactly = int(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

double ErrorOfFunction(Function f, Exactly exactly, double x) {
  mpfr_t y;
  mpfr_init2(y, 300);
  mpfr_set_d(y, x, MPFR_RNDN);
  exactly(y, y, MPFR_RNDN);
  mpfr_d_div(y, f(x), y, MPFR_RNDN);
  mpfr_sub_ui(y, y, 1, MPFR_RNDN);
  const double error = std::abs(mpfr_get_d(y, MPFR_RNDN));
  mpfr_clear(y);
  return error;
}

// Numbers of every size up to `most`, of both signs, and the places where the formulas change.
std::vector<double> ArgumentsUpTo(double most, std::initializer_list<double> places) {
  std::vector<double> all;
  Random random(11);
  for (int i = 0; i < 20000; ++i) {
    const double x = most * std::exp2(-60 * random.Uniform(0, 1) * random.Uniform(0, 1));
    all.push_back(random.Below(2) ? x : -x);
  }
  for (const double place : places) {
    for (const double x : {place, -place}) {
      for (const double y : {x, NextUp(DType::kF64, x), NextDown(DType::kF64, x)}) all.push_back(y);
    }
  }
  return all;
}

TEST(Elementary, ExpErrsByAtMostTheStatedBound) {
  for (const double x : ArgumentsUpTo(700, {0.35, 0.34657359027997264, 1, 512}))
    ASSERT_LE(ErrorOfFunction(ExpOf, mpfr_exp, x), 0x1p-50) << x;
}

TEST(Elementary, Expm1ErrsByAtMostTheStatedBound) {
  for (const double x : ArgumentsUpTo(700, {0.35, 0.34657359027997264, 1, 512}))
    ASSERT_LE(ErrorOfFunction(Expm1Of, mpfr_expm1, x), 0x1p-49) << x;
}

TEST(Elementary, Log1pErrsByAtMostTheStatedBound) {
  for (const double x : ArgumentsUpTo(1, {0.25, 1.0 / 3, 0.5, 1 - 0x1p-53})) {
    if (x <= -1) continue;
    ASSERT_LE(ErrorOfFunction(Log1pOf, mpfr_log1p, x), 0x1p-49) << x;
  }
  for (const double x : ArgumentsUpTo(1e300, {1e10})) {
    if (x <= 0) continue;
    ASSERT_LE(ErrorOfFunction(Log1pOf, mpfr_log1p, x), 0x1p-49) << x;
  }
}

TEST(Elementary, LimitsAreThoseOfTheFunctions) {
  EXPECT_EQ(ExpOf(0), 1);
  EXPECT_EQ(ExpOf(-kInfinity), 0);
  EXPECT_EQ(ExpOf(-1000), 0);
  EXPECT_EQ(ExpOf(1000), kInfinity);
  EXPECT_EQ(ExpOf(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(ExpOf(kNaN)));
  EXPECT_EQ(Expm1Of(0), 0);
  EXPECT_EQ(Expm1Of(-kInfinity), -1);
  EXPECT_EQ(Expm1Of(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Expm1Of(kNaN)));
  EXPECT_EQ(Log1pOf(0), 0);
  EXPECT_EQ(Log1pOf(-1), -kInfinity);
  EXPECT_EQ(Log1pOf(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Log1pOf(-2)));
  EXPECT_TRUE(std::isnan(Log1pOf(kNaN)));
}

}  // namespace
}  // namespace sextant
