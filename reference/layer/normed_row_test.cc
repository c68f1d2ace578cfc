#include "reference/layer/normed_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"

namespace sextant {
namespace {

// x with a large error bound: step keep adds `big` to x - 1/8 and subtracts it again.
Counted Blurred(double x, double big) {
  const ScopedStep at(Step::kKeep);
  return ((Counted(x - 0.125) + Counted(big)) - Counted(big)) + Counted(0.125);
}

std::vector<Counted> Blurred(const std::vector<double>& x, double big) {
  std::vector<Counted> row;
  for (const double value : x) row.push_back(Blurred(value, big));
  return row;
}

std::vector<double> PermittedOf(const std::vector<Counted>& row, double eps) {
  const NormedRow<Counted> normed(row, Counted(eps));
  std::vector<double> permitted;
  for (size_t j = 0; j < row.size(); ++j) permitted.push_back(normed(j, Counted(1.0)).Permitted());
  return permitted;
}

const Recipe kExactButKeep = ParseRecipe("*=exact keep=f32", DType::kF32);

// r = 2, and the error of each x is 1/4. So the error of r is 1/4 as well, and r' >= 7/4.
TEST(NormedRow, ErrorsAreDividedByTheLeastRoot) {
  const ScopedRecipe following(kExactButKeep, DType::kF32);
  EXPECT_NEAR(PermittedOf(Blurred({2, 2, 2, 2}, 0x1p22), 0)[0], (0.25 + 0.25) / 1.75, 1e-6);
}

// r = 2 again. The error of r'^2 is at most ((8 + 1/4)/4 + 3 (1/4)^2) / 4 = 9/16, and r' >= 7/4. So
// the error of r is at most 9/16 / (15/4) = 0.15.
TEST(NormedRow, TheErrorOfTheRootIsBoundedByTheErrorOfItsSquare) {
  const ScopedRecipe following(kExactButKeep, DType::kF32);
  const double permitted = PermittedOf(Blurred({0, 0, 0, 4}, 0x1p22), 0)[3];
  EXPECT_LT(permitted, (0.25 + 2 * 0.15) / 1.85 + 1e-6);
}

// |y'| <= sqrt 4 for every x; y = 0 and 2.
TEST(NormedRow, TheErrorOfTheQuotientIsBoundedForErrorsOfAnySize) {
  const ScopedRecipe following(kExactButKeep, DType::kF32);
  const auto permitted = PermittedOf(Blurred({0, 0, 0, 4}, 0x1p40), 1e-5);
  EXPECT_NEAR(permitted[0], 2, 1e-4);
  EXPECT_NEAR(permitted[3], 4, 1e-4);
}

// 0 / 0 is NaN.
TEST(NormedRow, UnboundedWhereTheRootMayBeZero) {
  const ScopedRecipe following(kExactButKeep, DType::kF32);
  EXPECT_EQ(PermittedOf(Blurred({0, 0, 0, 4}, 0x1p40), 0)[0], INFINITY);
}

// 200^2 + 200^2 overflows f16, and 1 / inf is 0.
TEST(NormedRow, UnboundedWhereTheSumOverflows) {
  const ScopedRecipe following(ParseRecipe("*=f32 sum=f16", DType::kF32), DType::kF32);
  EXPECT_EQ(PermittedOf(Blurred({200, 200}, 0x1p23), 1e-5)[0], INFINITY);
}

// eps is inf, and 1 / inf is 0.
TEST(NormedRow, UnboundedWhereEpsOverflows) {
  const std::vector<Counted> row(4, Counted(1.0));
  for (const auto& [line, eps] : {std::pair("*=f32 rsqrt=f16", 1e5), std::pair("*=f32", 1e39)}) {
    const ScopedRecipe following(ParseRecipe(line, DType::kF32), DType::kF32);
    EXPECT_EQ(PermittedOf(row, eps)[0], INFINITY) << line;
  }
}

// The count is inf in f16, so the mean square is eps.
TEST(NormedRow, UnboundedWhereTheCountOverflows) {
  const ScopedRecipe following(ParseRecipe("*=f32 rsqrt=f16", DType::kF32), DType::kF32);
  const std::vector<Counted> row(70000, Counted(0.5));
  EXPECT_EQ(NormedRow<Counted>(row, Counted(1.0))(0, Counted(1.0)).Permitted(), INFINITY);
}

// r' may be 1e-5, and 1e5 overflows f16.
TEST(NormedRow, UnboundedWhereTheReciprocalOverflows) {
  const ScopedRecipe following(ParseRecipe("*=f32 scale=f16", DType::kF32), DType::kF32);
  EXPECT_EQ(PermittedOf(Blurred({2, 2}, 0x1p26), 1e-10)[0], INFINITY);
  EXPECT_LT(PermittedOf(Blurred({2, 2}, 0x1p26), 1e-5)[0], 4);
}

// A random row of `format` within the error bounds of `row`.
std::vector<Rounded> WithinErrors(const std::vector<Counted>& row, DType format, Random& random) {
  std::vector<Rounded> values;
  for (const Counted& x : row) {
    const double center = x.center().high, e = x.error();
    const double offset = random.Below(3) ? (random.Below(2) ? e : -e) : random.Uniform(-e, e);
    double value = RoundTo(format, center + offset);
    if (std::abs(value - center) > e) value = center;
    values.emplace_back(value);
  }
  return values;
}

TEST(NormedRow, BoundsTheErrorsOfImplementations) {
  Random random(1);
  size_t bounded = 0;
  double worst = 0;
  for (const char* line :
       {"*=f32", "*=bf16", "*=f16", "*=f32 flush", "*=f32 square=bf16 rsqrt=f16 scale=bf16",
        "*=f16 sum=f32:tensor_core keep=bf16", "*=exact keep=f16"}) {
    const Recipe recipe = ParseRecipe(line, DType::kF32);
    const ScopedRecipe following(recipe, DType::kF32);
    const DType format = recipe.steps[static_cast<size_t>(Step::kKeep)].format;
    for (int i = 0; i < 300; ++i) {
      std::vector<double> x(1 + random.Below(6));
      for (double& value : x) value = RoundTo(format, random.Number(2));
      const std::vector<Counted> row = Blurred(
          x, std::ldexp(1.0, GridOf(format).precision + static_cast<int>(random.Below(9)) - 6));
      const double eps = random.Below(2) ? 1e-5 : 0.1;
      const NormedRow<Counted> normed(row, Counted(eps));
      for (int run = 0; run < 10; ++run) {
        const std::vector<Rounded> held = WithinErrors(row, format, random);
        const NormedRow<Rounded> answer(held, Rounded(eps));
        for (size_t j = 0; j < x.size(); ++j) {
          const Counted y = normed(j, Counted(1.5));
          const double permitted = y.Permitted();
          const double error = std::abs(answer(j, Rounded(1.5)).value() - y.center().high);
          ASSERT_LE(error, permitted) << line << " element " << j << " of " << x.size();
          if (permitted == INFINITY) continue;
          ++bounded;
          worst = std::max(worst, error / permitted);
        }
      }
    }
  }
  EXPECT_GT(bounded, 60000u);
  EXPECT_GT(worst, 0.9);
}

// Numbers with and without errors; zeros and powers of two.
std::vector<Counted> AnyRow(DType dtype, size_t count, bool rounded, Random& random) {
  std::vector<Counted> row;
  for (size_t j = 0; j < count; ++j) {
    const double values[] = {0, 1, -0.25, random.Uniform(-3, 3), random.Uniform(-3, 3)};
    const double x = RoundTo(dtype, values[random.Below(5)]);
    row.push_back(rounded && random.Below(2) ? Blurred(x, 0x1p8) : Counted(x, dtype));
  }
  return row;
}

void ExpectEqualPaths(DType dtype, size_t count, bool rounded) {
  Random random(count);
  const std::vector<Counted> row = AnyRow(dtype, count, rounded, random);
  const std::vector<Counted> weight = AnyRow(dtype, count, rounded, random);
  const NormedRow<Counted> normed(row, Counted(count % 4 ? 1e-5 : 0));
  const Counted guard(12345.0);
  std::vector<Counted> y(count + 3, guard);
  normed.Weigh(weight, std::span(y).first(count));
  for (size_t j = 0; j < count; ++j) {
    SCOPED_TRACE(j);
    ExpectSameBits(y[j], normed(j, weight[j]));
  }
  for (size_t j = count; j < y.size(); ++j) ExpectSameBits(y[j], guard);
}

TEST(NormedRow, WeighsRowsWithTheBitsOfSingleElements) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF64}) {
      for (const char* recipe : {"native", "all_native", "exact", "native flush",
                                 "*=exact keep=f32", "native weigh=f64 scale=bf16"}) {
        SCOPED_TRACE(recipe);
        SCOPED_TRACE(NameOf(dtype));
        const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
        for (size_t count = 1; count <= 17; ++count) {
          ExpectEqualPaths(dtype, count, false);
          ExpectEqualPaths(dtype, count, true);
        }
      }
    }
  });
}

// The generic formula, and the one for exact numbers.
TEST(NormedRow, MeanSquaresOfExactNumbersHaveTheBitsOfTheFormula) {
  Random random(1);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF64}) {
    for (const char* recipe : {"native", "all_native", "exact", "native flush", "native sum=f64",
                               "native square=f64", "native sum=f32:pairwise"}) {
      SCOPED_TRACE(recipe);
      const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
      for (const size_t count : {1, 2, 3, 8, 100}) {
        std::vector<Counted> row = AnyRow(dtype, count, false, random);
        if (count == 8) row[3] = Counted(RoundTo(dtype, 0x1.8p-149), dtype);
        if (count == 3) row[1] = Counted(kInfinity, dtype);
        std::vector<Counted> squares;
        for (const Counted& x : row) {
          const ScopedStep at(Step::kSquare);
          squares.push_back(x * x);
        }
        Counted sum;
        {
          const ScopedStep at(Step::kSum);
          sum = SumOf(squares);
        }
        const ScopedStep at(Step::kRsqrt);
        const Counted eps(1e-5), width(static_cast<double>(count));
        ExpectSameBits(MeanSquare<Counted>(row, eps), sum / width + eps);
      }
    }
  }
}

}  // namespace
}  // namespace sextant
