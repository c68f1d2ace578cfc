#include "reference/number/rounded/choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

// Between 1 and 2 the codes of e4m3fn are 1/8 apart, below 1/64 they are 1/512 apart.
TEST(Choice, NearestAwayDiffersAtTiesAlone) {
  const auto expect = [](DType type, double x, double even, double away) {
    for (const double sign : {1.0, -1.0}) {
      EXPECT_EQ(Chosen(Choice::kNearestEven, type, sign * x), sign * even) << x;
      EXPECT_EQ(Chosen(Choice::kNearestAway, type, sign * x), sign * away) << x;
    }
  };
  expect(DType::kF8E4M3FN, 1.0625, 1, 1.125);
  expect(DType::kF8E4M3FN, 1.1875, 1.25, 1.25);
  expect(DType::kF8E4M3FN, 1.0625 - 0x1p-50, 1, 1);
  expect(DType::kF8E4M3FN, 1.0625 + 0x1p-50, 1.125, 1.125);
  expect(DType::kF8E4M3FN, 1.9375, 2, 2);
  expect(DType::kF8E4M3FN, 2.0625, 2, 2);  // a tie of the binade below
  expect(DType::kF8E4M3FN, 0x1p-10, 0, 0x1p-9);
  expect(DType::kI8, 2.5, 2, 3);
  expect(DType::kI8, 126.5, 126, 127);
  expect(DType::kI4, 0.5, 0, 1);
  expect(DType::kF4E2M1, 5, 4, 6);
  expect(DType::kF4E2M1, 2.5, 2, 3);
  EXPECT_EQ(Chosen(Choice::kNearestAway, DType::kI8, 2.5, -0x1p-60), 2) << "below the tie";
  EXPECT_EQ(Chosen(Choice::kNearestAway, DType::kI8, 2.5, 0x1p-60), 3);
}

TEST(Choice, PowersOfTwo) {
  const auto expect = [](DType type, double x, double low, double below, double above) {
    EXPECT_EQ(Chosen(Choice::kPowerBelow, type, x, low), below) << x;
    EXPECT_EQ(Chosen(Choice::kPowerAbove, type, x, low), above) << x;
  };
  for (const DType type : {DType::kE8M0, DType::kF32}) {
    expect(type, 3, 0, 2, 4);
    expect(type, 4, 0, 4, 4);
    expect(type, 4, -0x1p-60, 2, 4);
    expect(type, 4, 0x1p-60, 4, 8);
    expect(type, 0x1.8p127, 0, 0x1p127, 0x1p127);
  }
  expect(DType::kE8M0, 0, 0, 0x1p-127, 0x1p-127);
  expect(DType::kE8M0, 0x1p-140, 0, 0x1p-127, 0x1p-127);
  expect(DType::kF32, 0, 0, 0, 0);
  expect(DType::kF32, 0x1.8p-140, 0, 0x1p-140, 0x1p-139);
  EXPECT_TRUE(std::isnan(Chosen(Choice::kPowerBelow, DType::kE8M0, NAN)));
}

}  // namespace
}  // namespace sextant
