// The rotation in vectors gives the same bits as single pairs, on every instruction set.
#include "reference/rope/plain_rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/real.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

using Numbers = std::vector<Counted>;

// Values of a format: ordinary numbers, and, if `special`, powers of two, zeros, and its limits.
double AnyValue(DType dtype, Random& random, bool special) {
  if (special && random.Below(8) >= 3) return SpecialValue(dtype, random);
  return RoundTo(dtype, random.Uniform(-3, 3));
}

struct TableOfAngles {
  TableOfAngles(size_t half, double position) {
    for (size_t k = 0; k < half; ++k) {
      AngleTable<Counted> angles(InversePower<Counted>(10000, static_cast<int64_t>(k), 64));
      const auto [c, s] = TableEntry(angles(position), Counted(1.0));
      cos.push_back(c);
      sin.push_back(s);
    }
  }
  Numbers cos, sin;
};

// Rotates by both paths. Returns whether the row was plain.
bool ExpectEqualRotations(const TableOfAngles& table, Pairing pairing, const Numbers& x) {
  const size_t half = table.cos.size();
  const ScopedStep at(Step::kRotate);
  PlainRotation rotation(table.cos, table.sin);
  const Counted guard(12345.0);
  Numbers y(2 * half + 3, guard);
  if (!rotation(pairing, x, std::span(y).first(2 * half))) return false;
  for (size_t k = 0; k < half; ++k) {
    SCOPED_TRACE(k);
    const auto [i, j] = ChannelsOf(pairing, k, 2 * half);
    const auto [first, second] = RotatedPair<Counted>(x[i], x[j], {table.cos[k], table.sin[k]});
    ExpectSameBits(y[i], first);
    ExpectSameBits(y[j], second);
  }
  for (size_t i = 2 * half; i < y.size(); ++i) ExpectSameBits(y[i], guard);
  return true;
}

void ExpectEqualRotations(const char* recipe, DType dtype, double position, bool special) {
  SCOPED_TRACE(recipe);
  SCOPED_TRACE(NameOf(dtype));
  const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
  Random random(static_cast<uint64_t>(position));
  for (size_t half = 1; half <= 17; ++half) {
    const TableOfAngles table(half, position);
    Numbers x;
    for (size_t i = 0; i < 2 * half; ++i) x.emplace_back(AnyValue(dtype, random, special), dtype);
    EXPECT_TRUE(ExpectEqualRotations(table, Pairing::kHalf, x));
    EXPECT_TRUE(ExpectEqualRotations(table, Pairing::kInterleaved, x));
  }
}

TEST(PlainRotation, GivesTheBitsOfSinglePairs) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64}) {
      for (const char* recipe : {"native", "all_native", "exact_table", "f32_compute"}) {
        if (dtype == DType::kF64 && recipe == std::string_view("f32_compute")) continue;
        ExpectEqualRotations(recipe, dtype, 5, false);
        ExpectEqualRotations(recipe, dtype, 21, true);
      }
    }
  });
}

// Position 0 has the exact numbers 1 and 0, and rotates nothing.
TEST(PlainRotation, LeavesExactTablesToSinglePairs) {
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  const Numbers x(2, Counted(1.5, DType::kF32));
  EXPECT_FALSE(ExpectEqualRotations(TableOfAngles(1, 0), Pairing::kHalf, x));
}

TEST(PlainRotation, LeavesRoundedNumbersToSinglePairs) {
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  const Numbers x(2, Counted(1.5, DType::kF32).WithError({0x1p-24, 0x1p-24}));
  EXPECT_FALSE(ExpectEqualRotations(TableOfAngles(1, 5), Pairing::kHalf, x));
}

TEST(PlainRotation, LeavesOtherStepsToSinglePairs) {
  const Numbers x(2, Counted(1.5, DType::kF32));
  for (const char* recipe : {"exact", "native flush"}) {
    const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
    EXPECT_FALSE(ExpectEqualRotations(TableOfAngles(1, 5), Pairing::kHalf, x)) << recipe;
  }
}

}  // namespace
}  // namespace sextant
