#include "oracle/rope/measured/rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::oracle {
namespace {

// Two heads, rotated by half a radian with errors of 1/1000.
TEST(FitPair, AllowsTheErrorsOfX) {
  const Case c = Case::Parse("rope pairing=half H=2 S=1 D=2 dtype=f32");
  const Tensor<double> x({1, 2, 1, 2}, {3, 1, -1, 2}),
      permitted({1, 2, 1, 2}, {1e-3, 1e-3, 1e-3, 1e-3});
  Tensor<double> y(x.shape);
  for (size_t h : {0, 1}) {
    const double u = x(0, h, 0, 0), v = x(0, h, 0, 1), error = h == 0 ? 1e-3 : -1e-3;
    y(0, h, 0, 0) = u * std::cos(0.5) - v * std::sin(0.5) + error;
    y(0, h, 0, 1) = u * std::sin(0.5) + v * std::cos(0.5) + error;
  }
  const Recipe native = ParseRecipe("native", c.dtype());
  RotationErrors errors(c, native, 1);
  const PairFit fit =
      FitPair(RowsOf({x, y, &permitted, true}, 1, 2), 0, {0, 1}, {0, 1}, {}, errors);
  EXPECT_TRUE(fit.is_rotation);
  EXPECT_LE(std::abs(fit.z - Complex(std::cos(0.5L), std::sin(0.5L))), fit.bar);
  EXPECT_LT(fit.bar, 5e-3);
  EXPECT_FALSE(
      FitPair(RowsOf({x, y, &permitted}, 1, 2), 0, {0, 1}, {0, 1}, {}, errors).is_rotation);
}

}  // namespace
}  // namespace sextant::oracle
