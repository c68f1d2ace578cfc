#include "oracle/attention/measured/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::oracle {
namespace {

// x + y = 3, x - y = 1 and 2 x = 4: x = 2, y = 1 without any residual.
TEST(LeastSquares, SolvesEquationsThatAgree) {
  LeastSquares squares(2);
  squares.Add(std::vector<double>{1, 1}, 3);
  squares.Add(std::vector<double>{1, -1}, 1);
  squares.Add(std::vector<double>{2, 0}, 4);
  const auto [x, bar, rms] = squares.Solve();
  EXPECT_DOUBLE_EQ(x[0], 2);
  EXPECT_DOUBLE_EQ(x[1], 1);
}

// The mean of n numbers with a standard deviation of 1 has that of 1/sqrt(n).
TEST(LeastSquares, GivesTheErrorOfAMean) {
  LeastSquares squares(1);
  for (const double number : {1.0, 2.0, 3.0, 6.0}) squares.Add(std::vector<double>{1}, number);
  const auto [x, bar, rms] = squares.Solve();
  EXPECT_DOUBLE_EQ(x[0], 3);
  EXPECT_DOUBLE_EQ(bar[0], 0.5);
  EXPECT_DOUBLE_EQ(rms, std::sqrt((4 + 1 + 0 + 9) / 3.0));
}

TEST(LeastSquares, SaysWhatIsNotDetermined) {
  LeastSquares squares(3);
  squares.Add(std::vector<double>{1, 0, 0}, 5);
  squares.Add(std::vector<double>{0, 1, 1}, 2);  // only the sum of the last two
  const auto [x, bar, rms] = squares.Solve();
  EXPECT_DOUBLE_EQ(x[0], 5);
  EXPECT_TRUE(std::isinf(bar[2]));
}

}  // namespace
}  // namespace sextant::oracle
