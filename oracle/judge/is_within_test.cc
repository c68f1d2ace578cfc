#include "oracle/judge/is_within.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

// 1 + 2^-52 differs from 1 - 2^-60 by 2^-52 + 2^-60.
TEST(IsWithin, CountsTheLowPart) {
  EXPECT_TRUE(IsWithin(1 + 0x1p-52, 1, -0x1p-60, 0x1p-52 + 0x1p-60, 0));
  EXPECT_FALSE(IsWithin(1 + 0x1p-52, 1, -0x1p-60, 0x1p-52, 0));
  EXPECT_TRUE(IsWithin(1 + 0x1p-52, 1, 0x1p-60, 0x1p-52, 0));
}

// 1 - 2^-80 is rounded to 1: in doubles the error of 2^-80 would be 1.
TEST(IsWithin, DoesNotRoundTheDifference) {
  EXPECT_TRUE(IsWithin(0x1p-80, 1, 0, 1, 0));
  EXPECT_FALSE(IsWithin(-0x1p-80, 1, 0, 1, 0));
  EXPECT_TRUE(IsWithin(-0x1p-80, -1, 0, 1, 0));
  EXPECT_FALSE(IsWithin(0x1p-80, -1, 0, 1, 0));
  EXPECT_FALSE(IsWithin(0x1p-1074, -1, 0, 1, 0));
}

// 1 + 2^-60 is rounded to 1.
TEST(IsWithin, DoesNotRoundTheSumOfTheBounds) {
  EXPECT_TRUE(IsWithin(-0x1p-60, 1, 0, 1, 0x1p-60));
  EXPECT_FALSE(IsWithin(-0x1.0000000000001p-60, 1, 0, 1, 0x1p-60));
  EXPECT_TRUE(IsWithin(2, 1, -0x1p-60, 1, 0x1p-60));
  EXPECT_FALSE(IsWithin(2, 1, -0x1p-60, 1, 0x1.fffffffffffffp-61));
}

TEST(IsWithin, DecidesTinyAndHugeNumbers) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  constexpr double kHuge = std::numeric_limits<double>::max();
  EXPECT_TRUE(IsWithin(kTiny, 0, 0, kTiny, 0));
  EXPECT_FALSE(IsWithin(2 * kTiny, 0, 0, kTiny, 0));
  EXPECT_TRUE(IsWithin(0, 0, 0, 0, 0));
  EXPECT_FALSE(IsWithin(kTiny, 0, 0, 0, 0));
  EXPECT_TRUE(IsWithin(kHuge, NextDown(DType::kF64, kHuge), 0, 0x1p971, 0));
  EXPECT_FALSE(IsWithin(kHuge, NextDown(DType::kF64, kHuge), 0, 0x1.fffffffffffffp970, 0));
}

TEST(IsWithin, RefusesNaNAndOneInfinity) {
  EXPECT_FALSE(IsWithin(kNaN, 1, 0, 1, 0));
  EXPECT_FALSE(IsWithin(1, kNaN, 0, 1, 0));
  EXPECT_FALSE(IsWithin(1, 1, 0, kNaN, 0));
  EXPECT_FALSE(IsWithin(1, 1, 0, 1, kNaN));
  EXPECT_FALSE(IsWithin(kInfinity, 1, 0, 1, 0));
  EXPECT_FALSE(IsWithin(-kInfinity, kInfinity, 0, 1, 0));
}

}  // namespace
}  // namespace sextant::oracle
