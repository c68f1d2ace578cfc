// Rows of a table in vectors have the same bits as single entries, on every instruction set.
#include "reference/rope/plain_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"

namespace sextant {
namespace {

using Numbers = std::vector<Counted>;

// Fine and coarse positions, backwards too; positions that f32, f16 and bf16 round.
const double kPositions[] = {0,   1,    63,    64,    65,         100,      127,
                             128, 8191, 65537, 52174, 131071,     16777217, 1099511627777,
                             -5,  -64,  -77,   -4097, 0x1p52 + 1, 0x1p53};

// Frequencies of a model, then inputs: powers of two, zeros, small and large numbers.
Numbers RandomFrequencies(size_t count, Random& random) {
  Numbers frequencies;
  for (size_t k = 0; k < count; ++k) {
    switch (random.Below(6)) {
      case 0:
        frequencies.emplace_back(std::ldexp(1.0, -static_cast<int>(random.Below(20))), DType::kF32);
        break;
      case 1:
        frequencies.emplace_back(RoundTo(DType::kF32, random.Uniform(0, 1e-4)), DType::kF32);
        break;
      case 2:
        frequencies.emplace_back(RoundTo(DType::kF32, random.Uniform(-1, 1)), DType::kF32);
        break;
      case 3:
        frequencies.emplace_back(k % 2 ? 0 : 1e30, DType::kF64);
        break;
      default:
        frequencies.push_back(InversePower<Counted>(10000, static_cast<int64_t>(k), 64));
    }
  }
  return frequencies;
}

void ExpectEqualTables(const Numbers& frequencies, const Counted& amplitude) {
  const size_t half = frequencies.size();
  PlainTable table(frequencies, amplitude);
  const Counted guard(12345.0);
  for (const double position : kPositions) {
    SCOPED_TRACE(position);
    Numbers cos(half + 3, guard), sin(half + 3, guard);
    table(position, std::span(cos).first(half), std::span(sin).first(half));
    for (size_t k = 0; k < half; ++k) {
      AngleTable<Counted> angles(frequencies[k]);
      const auto [c, s] = TableEntry(angles(position), amplitude);
      ExpectSameBits(cos[k], c);
      ExpectSameBits(sin[k], s);
    }
    for (size_t k = half; k < cos.size(); ++k) {
      ExpectSameBits(cos[k], guard);
      ExpectSameBits(sin[k], guard);
    }
  }
}

void ExpectEqualTables(DType dtype, const char* recipe) {
  SCOPED_TRACE(recipe);
  SCOPED_TRACE(NameOf(dtype));
  const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
  const Counted amplitudes[] = {Counted(1.0), Counted(0.7), Sqrt(Counted(2.0)), Counted(0.5),
                                Counted(0.0)};
  Random random(1);
  for (const size_t half : {1, 2, 3, 4, 5, 8, 9, 16, 17})
    ExpectEqualTables(RandomFrequencies(half, random), amplitudes[half % 5]);
}

TEST(PlainTable, HasTheBitsOfSingleEntries) {
  OnEveryTarget([] {
    for (const char* recipe : {"native", "all_native", "exact_table", "exact"})
      ExpectEqualTables(DType::kBF16, recipe);
    for (const char* recipe :
         {"native", "native trig=T/0.5", "native angle=f64", "native trig=f64/3 table=exact"})
      ExpectEqualTables(DType::kF32, recipe);
    ExpectEqualTables(DType::kF64, "native");
    ExpectEqualTables(DType::kF16, "all_native");
  });
}

TEST(PlainTable, HasTheBitsOfSingleEntriesThatFlush) {
  const ScopedRecipe following(ParseRecipe("native flush", DType::kF32), DType::kF32);
  Random random(2);
  ExpectEqualTables(RandomFrequencies(9, random), Counted(1.0));
}

}  // namespace
}  // namespace sextant
