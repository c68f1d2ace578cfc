// The sum of squares in vectors is that of Counted, on every instruction set.
#include "reference/layer/plain_square_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/real.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

std::vector<Counted> Row(size_t count, DType dtype, bool exact, Random& random) {
  std::vector<Counted> row;
  for (size_t j = 0; j < count; ++j) {
    const double x = random.Below(9) ? random.Number(4) : SpecialValue(dtype, random, 3);
    const Counted number(RoundTo(dtype, x), dtype);
    row.push_back(exact ? number
                        : Counted::Of({number.center().high, x * 0x1p-60}, std::abs(x) * 0x1p-99,
                                      dtype, false)
                              .WithError({std::abs(x) * 0x1p-9, std::abs(x) * 0x1p-10}));
  }
  return row;
}

// The sum of the squares of Counted; sets `most` to the sum of their magnitudes.
Counted Expected(const std::vector<Counted>& row, double& most) {
  std::vector<Counted> squares;
  {
    const ScopedStep at(Step::kSquare);
    for (const Counted& x : row) {
      squares.push_back(x * x);
      most += squares.back().Magnitude();
    }
  }
  const ScopedStep at(Step::kSum);
  return SumOf(squares);
}

void ExpectSameSum(const std::vector<Counted>& row, DType dtype, const char* text, size_t& plain) {
  const Recipe recipe = ParseRecipe(text, dtype);
  const ScopedRecipe following(recipe, dtype);
  const auto rule = [](Step step) {
    const ScopedStep at(step);
    return CurrentRule();
  };
  const auto sum = SumOfPlainSquares(row, rule(Step::kSquare), rule(Step::kSum));
  if (!sum) return;
  ++plain;
  const ScopedStep at(Step::kSum);
  const Counted found = sum->Total();
  double most = 0;
  const Counted expected = Expected(row, most);
  EXPECT_EQ(found.error(), expected.error());
  EXPECT_EQ(found.likely(), expected.likely());
  EXPECT_EQ(found.format(), expected.format());
  // Each is a sum of at most 17 terms with errors of 2 units each.
  const double units = 2 * 2 * 17 * kDoubleDoubleUnit * most;
  EXPECT_LE(std::abs((found.center() - expected.center()).high), units);
  EXPECT_LE(std::abs(found.drift() - expected.drift()), units);
}

TEST(PlainSquareSum, IsTheSumOfTheSquares) {
  size_t plain = 0;
  OnEveryTarget([&] {
    Random random(1);
    for (size_t count = 1; count <= 2 * kMostLanes + 1; ++count) {
      for (const DType dtype : kFloatTypes) {
        for (const bool exact : {false, true}) {
          const std::vector<Counted> row = Row(count, dtype, exact, random);
          for (const char* recipe : {"native", "all_native", "exact", "native sum=exact"})
            ExpectSameSum(row, dtype, recipe, plain);
        }
      }
    }
  });
  EXPECT_GT(plain, 500U);
}

// Level 1: a few last bits differ.
TEST(PlainSquareSum, OfExactNumbersInOnePass) {
  const StepRule square{.format = DType::kF32}, exact{.exact = true};
  OnEveryTarget([&] {
    Random random(2);
    for (size_t count = 1; count <= 2 * kMostLanes + 1; ++count) {
      std::vector<double> values(count), sizes(count + 1, -7);
      for (double& x : values) x = RoundTo(DType::kBF16, random.Number(4));
      const ExactSpan row(values, DType::kBF16);
      const auto one = SumOfExactSquares(row, square, square, std::span(sizes).first(count));
      const auto other = SumOfPlainSquares(CountedOf(row), square, square);
      ASSERT_TRUE(one && other);
      const ScopedStep at(Step::kSum);
      const CountedSum sum({one->center, one->rounding, one->error, one->size, count});
      const Counted found = sum.Total(square, {}), expected = other->Total(square, {});
      EXPECT_LE(std::abs((found.center() - expected.center()).high), found.drift());
      EXPECT_LE(found.drift(), expected.center().high * 0x1p-90);
      EXPECT_NEAR(found.error(), expected.error(), expected.error() * 0x1p-48);
      EXPECT_NEAR(sum.Total(square, {1, 1}).error(), other->Total(square, {1, 1}).error(),
                  expected.center().high * 0x1p-48);
      double largest = 0;
      for (size_t j = 0; j < count; ++j) {
        EXPECT_EQ(sizes[j], std::abs(values[j]) * kBoundUp);
        largest = std::max(largest, sizes[j]);
      }
      EXPECT_EQ(one->largest, largest);
      EXPECT_EQ(sizes[count], -7);
      EXPECT_FALSE(SumOfExactSquares(row, exact, square, sizes));
    }
  });
}

TEST(PlainSquareSum, LeavesSpecialCases) {
  const StepRule rule{.format = DType::kF32}, flushing{.format = DType::kF32, .flushes = true};
  const Counted one(1, DType::kF32);
  EXPECT_TRUE(SumOfPlainSquares(std::vector{one, one}, rule, rule));
  EXPECT_FALSE(SumOfPlainSquares(std::vector{one, one}, flushing, rule));
  EXPECT_FALSE(SumOfPlainSquares(std::vector{one, one}, rule, flushing));
  for (const Counted& x : {Counted(1), Counted(1, DType::kF64), Counted(kNaN, DType::kF32),
                           Counted(kInfinity, DType::kF32), one.WithError({1, 1}),
                           Counted::Of(1.0, 0x1p-90, DType::kF32, true)})
    EXPECT_FALSE(SumOfPlainSquares(std::vector{one, x}, rule, rule)) << x.center().high;
}

}  // namespace
}  // namespace sextant
