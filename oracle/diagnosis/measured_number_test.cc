#include "oracle/diagnosis/measured_number.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

TEST(Range, HasTheNumbersOfBoth) {
  Range range{1, 5};
  EXPECT_TRUE(range.Meets({5, 7}));
  EXPECT_FALSE(range.Meets({6, 7}));
  range.Intersect({2, 7});
  EXPECT_TRUE(range.Contains(2) && range.Contains(5));
  EXPECT_FALSE(range.Contains(1) || range.Contains(7));
  EXPECT_EQ(range.Middle(), 3.5);
  EXPECT_FALSE(range.IsEmpty() || !range.IsBounded() || Range{}.IsBounded());
  range.Intersect({6, 7});
  EXPECT_TRUE(range.IsEmpty());
}

TEST(Quotient, HasEveryFactorWithinTheError) {
  const Range factors = Quotient(6, 2, -2);
  EXPECT_EQ(factors.low, -4);
  EXPECT_EQ(factors.high, -2);
  EXPECT_FALSE(Quotient(1, 2, 0).IsBounded());  // any factor of 0
  EXPECT_TRUE(Quotient(2, 1, 0).IsEmpty());
}

TEST(Quotient, OfARangeHasItsNumbersDivided) {
  const LongRange quotients = Quotient(LongRange{4, 6}, -2);
  EXPECT_EQ(quotients.low, -3);
  EXPECT_EQ(quotients.high, -2);
  EXPECT_TRUE(Quotient(LongRange{1, 0}, 2).IsEmpty());
}

TEST(MeasuredNumber, MayBeTheNumbersWithinItsBar) {
  const MeasuredNumber x = MiddleOf({2, 6});
  EXPECT_TRUE(x.MayBe(2) && x.MayBe(6));
  EXPECT_FALSE(x.MayBe(1.9) || x.MayBe(6.1));
  EXPECT_EQ(RangeAround(x).low, 2);
  EXPECT_EQ(RangeAround(x).high, 6);
  EXPECT_TRUE(MeasuredNumber{}.MayBe(1e300));
  EXPECT_FALSE(MeasuredNumber{std::nan("")}.MayBe(0));
}

TEST(SimplestIn, HasTheFewestDigits) {
  EXPECT_EQ(SimplestIn({-1, 3}), 0);
  EXPECT_EQ(SimplestIn({480000, 530000}), 500000);
  EXPECT_EQ(SimplestIn({0.118L, 0.131L}), 0.12);
  EXPECT_EQ(SimplestIn({12344.8L, 12345.2L}), 12345);
}

// 1.5 has two digits; the measurement has five and a half, and then less than four.
TEST(ShortestText, HasAnErrorBarIfTheShortNumberMayBeACoincidence) {
  EXPECT_EQ(ShortestText({1.500002, 5e-6}), "1.5");
  EXPECT_EQ(ShortestText({1.502, 0.005}), "1.502 +- 0.005");
  EXPECT_EQ(ShortestText({0.137291, 2e-6}), "0.137291 +- 2e-06");
  EXPECT_EQ(ShortestText({1.53}), "2 +- inf");
  EXPECT_EQ(ShortNumber({1.5, std::numeric_limits<double>::infinity()}), std::nullopt);
}

}  // namespace
}  // namespace sextant::oracle
