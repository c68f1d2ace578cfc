#include "reference/number/counted/sum_of_terms.h"

#include <gtest/gtest.h>

#include <vector>

#include "reference/number/counted/counted_bits_test.h"

namespace sextant {
namespace {

// Eight sums of every eighth term, then these, then the terms that are left.
TEST(SumOfTerms, DoesNotDependOnTheWidthOfVectors) {
  OnEveryTarget([] {
    Random random(2);
    for (size_t n = 1; n <= 5 * kMostLanes; ++n) {
      std::vector<double> high(n), low(n);
      for (size_t j = 0; j < n; ++j) low[j] = (high[j] = random.Number(30)) * 0x1p-56;
      DoubleDouble sum, sums[kMostLanes];
      double rounding = 0, roundings[kMostLanes] = {};
      const size_t whole = n / kMostLanes * kMostLanes;
      for (size_t j = 0; j < whole; ++j) {
        DoubleDouble& part = sums[j % kMostLanes];
        part = Sum(part, DoubleDouble{high[j], low[j]}, roundings[j % kMostLanes]);
      }
      for (size_t i = 0; i < kMostLanes; ++i) {
        sum = Sum(sum, sums[i], rounding);
        rounding += roundings[i];
      }
      for (size_t j = whole; j < n; ++j) sum = Sum(sum, DoubleDouble{high[j], low[j]}, rounding);
      double found_rounding = 0;
      const DoubleDouble found = SumOfTerms(high, low, found_rounding);
      EXPECT_EQ(found.high, sum.high);
      EXPECT_EQ(found.low, sum.low);
      EXPECT_EQ(found_rounding, rounding);
    }
  });
}

}  // namespace
}  // namespace sextant
