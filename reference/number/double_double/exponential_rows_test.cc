// The error bounds of exponentials of many doubles, on every instruction set.
#include "reference/number/double_double/exponential_rows.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {
namespace {

using Exactly = int(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

double ErrorOfRow(double computed, Exactly exactly, double x) {
  mpfr_t y;
  mpfr_init2(y, 300);
  mpfr_set_d(y, x, MPFR_RNDN);
  exactly(y, y, MPFR_RNDN);
  mpfr_d_div(y, computed, y, MPFR_RNDN);
  mpfr_sub_ui(y, y, 1, MPFR_RNDN);
  const double error = std::abs(mpfr_get_d(y, MPFR_RNDN));
  mpfr_clear(y);
  return error;
}

// Numbers of every size up to 600, of both signs, and the places where the formulas change.
std::vector<double> Arguments() {
  std::vector<double> all = {0.35, -0.35, NextUp(DType::kF64, 0.35), 600, -600};
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const double x = 600 * std::exp2(-60 * random.Uniform(0, 1) * random.Uniform(0, 1));
    all.push_back(random.Below(2) ? x : -x);
  }
  for (int k = -40; k < 40; ++k) all.push_back((k + 0.5) * std::log(2.0));
  return all;
}

TEST(ExponentialRows, ErrByAtMostTheStatedBounds) {
  const std::vector<double> x = Arguments();
  OnEveryTarget([&] {
    std::vector<double> y(x.size());
    ExpOfEach(x, y);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ErrorOfRow(y[i], mpfr_exp, x[i]), 0x1p-50) << x[i];
    Expm1OfEach(x, y);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ErrorOfRow(y[i], mpfr_expm1, x[i]), 0x1p-49) << x[i];
  });
}

TEST(ExponentialRows, NumbersBeyondTheRangeAreComputedOneByOne) {
  const std::vector<double> x = {kInfinity, -kInfinity, 700, -700, 1000, 0, 1, kNaN};
  OnEveryTarget([&] {
    std::vector<double> y(x.size());
    ExpOfEach(x, y);
    for (const size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(y[i], ExpOf(x[i])) << x[i];
    EXPECT_EQ(y[5], 1);
    EXPECT_TRUE(std::isnan(y[7]));
    Expm1OfEach(x, y);
    for (const size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(y[i], Expm1Of(x[i])) << x[i];
    EXPECT_EQ(y[5], 0);
    EXPECT_TRUE(std::isnan(y[7]));
  });
}

TEST(ExponentialRows, NothingIsWrittenAfterTheEnd) {
  OnEveryTarget([] {
    for (size_t size = 0; size <= 20; ++size) {
      const std::vector<double> x(size, 1.0);
      std::vector<double> y(size + 16, -7);
      ExpOfEach(x, std::span(y).first(size));
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i] == -7, i >= size) << size << " " << i;
    }
  });
}

}  // namespace
}  // namespace sextant
