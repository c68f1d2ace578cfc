#include "oracle/rope/measured/numbers.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

TEST(MeasuredText, HasAnErrorBarIfOtherNumbersAreAsShort) {
  EXPECT_EQ(MeasuredText(500000, {480000, 520000}), "500000");
  EXPECT_EQ(MeasuredText(12345, {12344.8L, 12345.2L}), "12345");
  EXPECT_EQ(MeasuredText(20, {9, 31}), "20 +- 10");               // 10 and 30
  EXPECT_EQ(MeasuredText(0.25, {0.23L, 0.27L}), "0.25 +- 0.02");  // 0.24 and 0.26
  EXPECT_EQ(MeasuredText(10, {9.3L, 14.1L}), "10 +- 2");          // wide: 11, 12, 13
  EXPECT_EQ(MeasuredText(0, {-1e-6L, 1e-6L}), "0");
  EXPECT_EQ(MeasuredText(0, {-5, 7}), "0 +- 6");
  EXPECT_EQ(MeasuredText(0.123456, {0.123454L, 0.123458L}), "0.123456 +- 2e-06");
}

}  // namespace
}  // namespace sextant::oracle
