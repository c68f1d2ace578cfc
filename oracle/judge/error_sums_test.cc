#include "oracle/judge/error_sums.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"

namespace sextant::oracle {
namespace {

std::vector<double> Errors(size_t count, Random& random) {
  std::vector<double> errors(count);
  for (double& x : errors) x = random.Number(20);
  return errors;
}

TEST(ErrorSums, DoNotDependOnTheWidthOfVectors) {
  OnEveryTarget([] {
    Random random(3);
    for (size_t n = 0; n <= 4 * kMostLanes + 1; ++n) {
      const std::vector<double> errors = Errors(n, random);
      double sums[kMostLanes] = {}, squares[kMostLanes] = {};
      for (size_t i = 0; i < n; ++i) {
        sums[i % kMostLanes] += errors[i];
        squares[i % kMostLanes] += errors[i] * errors[i];
      }
      const ErrorSums found(errors);
      EXPECT_EQ(found.sum, std::accumulate(sums, sums + kMostLanes, 0.0)) << n;
      EXPECT_EQ(found.squares, std::accumulate(squares, squares + kMostLanes, 0.0)) << n;
    }
  });
}

TEST(ErrorSums, AddEachAddsToItsOwnNumberAndToNoOther) {
  OnEveryTarget([] {
    Random random(4);
    for (size_t n = 0; n <= 2 * kMostLanes + 1; ++n) {
      const std::vector<double> x = Errors(n, random), before = Errors(n + 1, random);
      std::vector<double> to = before;
      AddEach(x, to.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(to[i], before[i] + x[i]) << n;
      EXPECT_EQ(to[n], before[n]) << n;
    }
  });
}

}  // namespace
}  // namespace sextant::oracle
