// The fast path gives the same bits as one dot product after the other, on every instruction set.
#include "reference/number/dot/dot_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/dot/plain_dot.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

using Numbers = std::vector<Counted>;

// Values of a format: ordinary numbers, powers of two, zeros, and numbers near its limits.
double AnyValue(DType dtype, Random& random, bool extreme) {
  if (random.Below(5) < 2) return SpecialValue(dtype, random, extreme ? 5 : 2);
  return RoundTo(dtype, random.Uniform(-3, 3));
}

// One row and `count` others.
struct Rows {
  Rows(DType dtype, size_t width, size_t count, bool extreme) {
    Random random(width * 100 + count);
    for (size_t i = 0; i < width; ++i) row.emplace_back(AnyValue(dtype, random, extreme), dtype);
    for (size_t i = 0; i < width * count; ++i)
      rows.emplace_back(AnyValue(dtype, random, extreme), dtype);
  }
  Numbers row, rows;
};

// Multiplies a row with `count` rows by both paths, from row `first` on.
void ExpectEqualPaths(DType dtype, const Recipe& recipe, size_t width, size_t count, bool extreme) {
  const ScopedRecipe following(recipe, dtype);
  const Rows numbers(dtype, width, count, extreme);
  const DotOperand<Counted> a(numbers.row);
  const DotRows<Counted> all(numbers.rows, count);
  for (const size_t first : {size_t{0}, count / 2}) {
    const Numbers products = all.Times(a, first, count);
    ASSERT_EQ(products.size(), count - first);
    for (size_t i = first; i < count; ++i) {
      SCOPED_TRACE(i);
      ExpectSameBits(products[i - first], Dot(a, all[i]));
    }
  }
}

TEST(DotRows, GiveTheBitsOfSingleDotProducts) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64}) {
      for (const char* name : {"native", "all_native", "exact"}) {
        const Recipe recipe = ParseRecipe(name, dtype);
        for (const size_t width : {1, 2, 7, 64}) {
          for (const size_t count : {1, 15, 16, 17, 40}) {
            ExpectEqualPaths(dtype, recipe, width, count, false);
            ExpectEqualPaths(dtype, recipe, width, count, true);
          }
        }
      }
    }
  });
}

// The same number within both drifts, with the same errors.
void ExpectSameWithinDrift(const Counted& sum, const Counted& exact) {
  if (!std::isfinite(exact.drift())) return;
  EXPECT_LE(std::abs((sum.center() - exact.center()).high),
            (sum.drift() + exact.drift()) * (1 + 0x1p-40));
  EXPECT_LE(sum.drift(), exact.drift() + exact.Magnitude() + exact.error());
  ExpectSameNumber(sum.error(), exact.error());
  ExpectSameNumber(sum.likely(), exact.likely());
}

TEST(DotRows, CentersInDoubleLieWithinTheirDrift) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      const Recipe recipe = ParseRecipe("native", dtype);
      const ScopedRecipe following(recipe, dtype);
      for (const size_t width : {1, 2, 7, 64, 3000}) {
        for (const bool extreme : {false, true}) {
          const Rows numbers(dtype, width, 17, extreme);
          const DotOperand<Counted> a(numbers.row);
          const DotRows<Counted> all(numbers.rows, 17);
          const Numbers exact = all.Times(a, 0, 17);
          const Scoped<&EvaluationContext::double_centers> level_1(true);
          const Numbers sums = all.Times(a, 0, 17);
          for (size_t i = 0; i < 17; ++i) ExpectSameWithinDrift(sums[i], exact[i]);
        }
      }
    }
  });
}

// Otherwise the test above could compare sums that need no rounding.
TEST(DotRows, CentersInDoubleRound) {
  const Recipe recipe = ParseRecipe("native", DType::kF16);
  const ScopedRecipe following(recipe, DType::kF16);
  const Numbers numbers{Counted(65504, DType::kF16), Counted(0x1p-24, DType::kF16)};
  const DotOperand<Counted> a(numbers);
  const DotRows<Counted> row(numbers, 1);
  OnEveryTarget([&] {
    const Counted exact = row.Times(a, 0, 1)[0];
    EXPECT_EQ(exact.center().low, 0x1p-48);
    const Scoped<&EvaluationContext::double_centers> level_1(true);
    const Counted sum = row.Times(a, 0, 1)[0];
    EXPECT_EQ(sum.center().low, 0);
    EXPECT_GT(sum.drift(), 0);
    ExpectSameWithinDrift(sum, exact);
  });
}

TEST(DotRows, ProductsAreExactIfTheFormatHoldsThem) {
  const auto range = [](std::initializer_list<double> numbers) {
    PlainRange of;
    of.Include(numbers, GridOf(DType::kF32));
    return of;
  };
  const Grid f32 = GridOf(DType::kF32);
  const auto short_numbers = range({0, 1.5, -0x1.fep10}), f32_numbers = range({0x1.fffffep0});
  EXPECT_TRUE(HaveExactProducts(short_numbers, short_numbers, f32));
  EXPECT_TRUE(HaveExactProducts(range({0x1.fffffcp0}), range({0.5, 4}), f32));
  EXPECT_FALSE(HaveExactProducts(f32_numbers, range({1.5}), f32));
  EXPECT_FALSE(HaveExactProducts(range({0x1p-60}), range({0x1p-60, 1}), f32));  // underflow
  EXPECT_FALSE(HaveExactProducts(range({0x1p100}), range({0x1p60}), f32));
  EXPECT_TRUE(HaveExactProducts(range({0}), range({0x1.fffffep0}), f32));
}

TEST(DotRows, SumsAreExactIfADoubleHoldsThem) {
  const auto range = [](std::initializer_list<double> numbers) {
    PlainRange of;
    of.Include(numbers, GridOf(DType::kF32));
    return of;
  };
  const auto one = range({1});
  EXPECT_TRUE(HaveExactSums(range({0x1p26, 0x1.8p-25}), one, 1));  // 3 * 2^-26 .. 2^26: 2^52 units
  EXPECT_FALSE(HaveExactSums(range({0x1p26, 0x1.8p-25}), one, 2));
  EXPECT_FALSE(HaveExactSums(range({0x1.8p26, 0x1.8p-25}), one, 1));
  EXPECT_FALSE(HaveExactSums(range({0x1p26, 0x1.cp-25}), one, 1));
  EXPECT_FALSE(HaveExactSums(one, range({0x1p26, 0x1.cp-25}), 1));
  EXPECT_TRUE(HaveExactSums(range({0}), range({0x1p40, 0x1p-40}), 1000));
}

// Otherwise the tests above would compare one path with itself.
TEST(DotRows, NumbersOfNarrowFormatsArePlain) {
  const auto is_plain = [](DType dtype, double x) {
    const Recipe recipe = ParseRecipe("native", dtype);
    const ScopedRecipe following(recipe, dtype);
    return !PlainNumbers(Numbers{Counted(x, dtype)}).empty();
  };
  EXPECT_TRUE(is_plain(DType::kF32, 0.1f));
  EXPECT_TRUE(is_plain(DType::kBF16, 3));
  EXPECT_FALSE(is_plain(DType::kF64, 0.1));
  EXPECT_FALSE(is_plain(DType::kF32, kInfinity));
}

TEST(DotRows, OnlyProductsNearTheLimitsOfTheFormatAreNotOrdinary) {
  OnEveryTarget([] {
    std::vector<float> block(2 * kPlainRows, 1.5);
    block[3] = 0;
    block[5] = std::numeric_limits<float>::max();
    block[kPlainRows + 7] = std::numeric_limits<float>::denorm_min();
    PlainSums sums;
    AddPlainProducts(std::vector<double>{2, -0.75}, block.data(), DType::kF32, Exact::kNothing,
                     sums);
    for (size_t row = 0; row < kPlainRows; ++row)
      EXPECT_EQ(sums.ordinary[row], row != 5 && row != 7) << row;
    EXPECT_EQ(sums.high[0], 1.875);
    EXPECT_EQ(sums.high[3], -1.125);
  });
}

TEST(DotRows, EmptyRowsHaveEmptyProducts) {
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const DotRows<Counted> none(Numbers(), 0), narrow(Numbers(), 3);
  EXPECT_TRUE(none.Times(DotOperand<Counted>(Numbers()), 0, 0).empty());
  EXPECT_EQ(narrow.Times(DotOperand<Counted>(Numbers()), 0, 3)[2].center(), DoubleDouble(0.0));
}

}  // namespace
}  // namespace sextant
