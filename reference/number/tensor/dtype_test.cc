#include "reference/number/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/error_test.h"
#include "reference/case/random_test.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {
namespace {

constexpr DType kSmall[] = {DType::kF16,    DType::kBF16,       DType::kF8E4M3FN,
                            DType::kF8E5M2, DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ};

// Every finite value of a type of 16 or 8 bits, from its bits.
std::vector<double> AllValues(DType type) {
  std::vector<double> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << RowOf(type).bits; ++bits) {
    const double x = DecodeBits(type, bits);
    if (std::isfinite(x)) values.push_back(x);
  }
  return values;
}

// The value of a 16-bit pattern by the definition of IEEE 754.
double ValueOf(uint64_t bits, int fraction_bits, int exponent_bits) {
  const auto fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1));
  const int biased = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> 15 ? -1 : 1;
  if (biased == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  const double significand = (biased ? std::ldexp(1, fraction_bits) : 0) + fraction;
  return sign * std::ldexp(significand, std::max(biased, 1) - bias - fraction_bits);
}

TEST(DType, Decodes16BitPatternsByTheStandard) {
  for (uint64_t bits = 0; bits < 0x10000; ++bits) {
    for (const auto& [type, fraction, exponent] :
         {std::tuple(DType::kBF16, 7, 8), std::tuple(DType::kF16, 10, 5)}) {
      const double expected = ValueOf(bits, fraction, exponent), x = DecodeBits(type, bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(x));
        EXPECT_EQ(EncodeBits(type, x), bits | 1u << (fraction - 1));  // quiet
        continue;
      }
      EXPECT_EQ(x, expected);
      EXPECT_EQ(EncodeBits(type, x), bits);
      EXPECT_TRUE(IsRepresentable(type, x));
    }
  }
}

TEST(DType, KeepsTheSignAndTheUpperBitsOfANaN) {
  const double ones = -std::bit_cast<double>(0x7FFFFFFFFFFFFFFFu);
  EXPECT_EQ(EncodeBits(DType::kF16, NAN), 0x7E00u);
  EXPECT_EQ(EncodeBits(DType::kF16, ones), 0xFFFFu);
  EXPECT_EQ(EncodeBits(DType::kBF16, -NAN), 0xFFC0u);
  EXPECT_EQ(EncodeBits(DType::kBF16, ones), 0xFFFFu);
  EXPECT_EQ(EncodeBits(DType::kF32, NAN), 0x7FC00000u);
  EXPECT_EQ(EncodeBits(DType::kF32, ones), 0xFFFFFFFFu);
  EXPECT_EQ(EncodeBits(DType::kF32, DecodeBits(DType::kF32, 0x7F800001)), 0x7FC00001u);
  EXPECT_EQ(EncodeBits(DType::kF64, NAN), 0x7FF8000000000000u);
  EXPECT_EQ(EncodeBits(DType::kF64, ones), 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(EncodeBits(DType::kF8E4M3FN, NAN), 0x7Fu);
  EXPECT_EQ(EncodeBits(DType::kF8E4M3FN, -NAN), 0xFFu);
  EXPECT_EQ(EncodeBits(DType::kF8E5M2, NAN), 0x7Eu);
  EXPECT_EQ(EncodeBits(DType::kF8E5M2, ones), 0xFFu);
  EXPECT_EQ(EncodeBits(DType::kF8E4M3FNUZ, NAN), 0x80u);
  EXPECT_EQ(EncodeBits(DType::kF8E4M3FNUZ, ones), 0x80u);
  EXPECT_EQ(EncodeBits(DType::kF8E5M2FNUZ, NAN), 0x80u);
}

TEST(DType, RepresentsIntegersUpTo2To53) {
  EXPECT_EQ(DecodeBits(DType::kI64, EncodeBits(DType::kI64, -5)), -5);
  EXPECT_TRUE(IsRepresentable(DType::kI64, 0x1p53));
  EXPECT_FALSE(IsRepresentable(DType::kI64, 0x1p53 + 2));
  EXPECT_FALSE(IsRepresentable(DType::kI64, 0.5));
  EXPECT_FALSE(IsRepresentable(DType::kI64, INFINITY));
}

// Neighbours a < b: numbers below the midpoint round to a, numbers above it to b, the midpoint to
// the even one.
TEST(DType, RoundsToTheNearerNeighbourTiesToEven) {
  for (const DType type : kSmall) {
    for (const double a : AllValues(type)) {
      const double b = NextUp(type, a);
      if (!std::isfinite(b) || a == b) continue;
      const double middle = a + (b - a) / 2, even = EncodeBits(type, a) % 2 == 0 ? a : b;
      EXPECT_EQ(RoundTo(type, a), a);
      EXPECT_EQ(RoundTo(type, middle), even);
      EXPECT_EQ(RoundTo(type, std::nextafter(middle, -INFINITY)), a);
      EXPECT_EQ(RoundTo(type, std::nextafter(middle, INFINITY)), b);
    }
  }
}

TEST(DType, RoundsToF32LikeTheProcessor) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const double x = random.Number(160);
    EXPECT_EQ(RoundTo(DType::kF32, x), static_cast<double>(static_cast<float>(x)));
  }
}

TEST(DType, OverflowsPastTheLastMidpoint) {
  // From `least` on numbers overflow to +-`beyond`.
  const auto border = [](DType type, double largest, double least, double beyond) {
    SCOPED_TRACE(NameOf(type));
    const double last = std::nextafter(least, 0.0), half = UlpOf(type, largest) / 2;
    EXPECT_EQ(MaxFinite(type), largest);
    EXPECT_EQ(RoundTo(type, last), largest);
    EXPECT_EQ(RoundTo(type, -last), -largest);
    EXPECT_EQ(RoundingError(type, largest), half);
    EXPECT_EQ(RoundingError(type, last), half);
    for (const double x : {least, 1e308, double{INFINITY}}) {
      EXPECT_TRUE(SameNumber(RoundTo(type, x), beyond)) << x;
      EXPECT_TRUE(SameNumber(RoundTo(type, -x), -beyond)) << x;
      EXPECT_EQ(RoundingError(type, x), INFINITY);
      EXPECT_FALSE(IsRepresentable(type, x) && std::isnan(beyond)) << x;
    }
    EXPECT_TRUE(SameNumber(NextUp(type, largest), beyond));
    EXPECT_TRUE(SameNumber(NextDown(type, -largest), -beyond));
    EXPECT_EQ(NextDown(type, largest), largest - 2 * half);
  };
  // The midpoint above the largest number is rounded to the even neighbour, 2^(max_exponent+1).
  border(DType::kF16, 65504, 65520, INFINITY);
  border(DType::kBF16, 0x1.fep127, 0x1.ffp127, INFINITY);
  border(DType::kF32, 0x1.fffffep127, 0x1.ffffffp127, INFINITY);
  border(DType::kF8E5M2, 57344, 61440, INFINITY);
  border(DType::kF8E4M3FNUZ, 240, 248, NAN);
  border(DType::kF8E5M2FNUZ, 57344, 61440, NAN);
  // 448 is even, and the pattern above it, of 480, is NaN.
  border(DType::kF8E4M3FN, 448, std::nextafter(464.0, INFINITY), NAN);
  EXPECT_EQ(MaxFinite(DType::kF64), 0x1.fffffffffffffp1023);
}

TEST(DType, HasTheLargestValueOfItsGrid) {
  for (const DType type : kDTypes) {
    if (RowOf(type).patterns == Patterns::kInteger) continue;
    const Grid grid = GridOf(type);
    // The largest fraction of the largest binade; in f8_e4m3fn this pattern is NaN.
    const int lost = type == DType::kF8E4M3FN ? 2 : 1;
    const double largest = (2 - PowerOfTwo(lost - grid.precision)) * PowerOfTwo(grid.max_exponent);
    EXPECT_EQ(MaxFinite(type), largest) << NameOf(type);
  }
}

TEST(DType, TypesWithoutMinusZeroRoundToZero) {
  for (const DType type : {DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ}) {
    for (const double x : {-0.0, -MinSubnormal(type) / 2, -0x1p-1074}) {
      EXPECT_EQ(RoundTo(type, x), 0);
      EXPECT_FALSE(std::signbit(RoundTo(type, x)));
    }
    EXPECT_EQ(EncodeBits(type, -0.0), 0u);
    EXPECT_FALSE(std::signbit(NextUp(type, -MinSubnormal(type))));
  }
  for (const DType type : {DType::kF8E4M3FN, DType::kF8E5M2}) {
    EXPECT_TRUE(std::signbit(RoundTo(type, -MinSubnormal(type) / 2)));
    EXPECT_EQ(EncodeBits(type, -0.0), 0x80u);
  }
}

TEST(DType, KeepsInfinitiesNaNAndTheSignOfZero) {
  for (const DType type : kFloatTypes) {
    EXPECT_EQ(RoundTo(type, -INFINITY), -INFINITY);
    EXPECT_TRUE(std::isnan(RoundTo(type, NAN)));
    EXPECT_TRUE(std::signbit(RoundTo(type, -0.0)));
    EXPECT_TRUE(IsRepresentable(type, NAN));
    EXPECT_TRUE(IsRepresentable(type, INFINITY));
  }
}

TEST(DType, SubnormalsAreEquallySpaced) {
  const auto least = [](DType type, double smallest, double normal) {
    EXPECT_EQ(MinSubnormal(type), smallest);
    for (const double x : {0.0, smallest, normal / 2, NextDown(type, normal), normal}) {
      EXPECT_EQ(UlpOf(type, x), smallest);
    }
    EXPECT_EQ(UlpOf(type, 2 * normal), 2 * smallest);
    EXPECT_EQ(NextUp(type, 0), smallest);
    EXPECT_EQ(NextDown(type, 0), -smallest);
  };
  least(DType::kF16, 0x1p-24, 0x1p-14);
  least(DType::kBF16, 0x1p-133, 0x1p-126);
  least(DType::kF32, 0x1p-149, 0x1p-126);
  least(DType::kF64, 0x1p-1074, 0x1p-1022);
  least(DType::kF8E4M3FN, 0x1p-9, 0x1p-6);
  least(DType::kF8E5M2, 0x1p-16, 0x1p-14);
  least(DType::kF8E4M3FNUZ, 0x1p-10, 0x1p-7);
  least(DType::kF8E5M2FNUZ, 0x1p-17, 0x1p-15);
  EXPECT_EQ(RoundTo(DType::kF16, 0x1p-25), 0);  // a tie with 0
  EXPECT_EQ(RoundTo(DType::kF16, 0x1.8p-25), 0x1p-24);
}

TEST(DType, UlpDoublesAtPowersOfTwo) {
  EXPECT_EQ(UlpOf(DType::kBF16, 1), 0x1p-7);
  EXPECT_EQ(UlpOf(DType::kBF16, -1.5), 0x1p-7);
  EXPECT_EQ(UlpOf(DType::kBF16, 0.999), 0x1p-8);
  EXPECT_EQ(UlpOf(DType::kF16, 2), 0x1p-9);
  EXPECT_EQ(UlpOf(DType::kF32, 1), 0x1p-23);
  EXPECT_EQ(UlpOf(DType::kF64, 1), 0x1p-52);
  EXPECT_EQ(UlpOf(DType::kF64, INFINITY), INFINITY);
}

TEST(DType, RoundingErrorIsATightBound) {
  Random random(2);
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E5M2}) {
    for (int i = 0; i < 2000; ++i) {
      const double x = random.Number(13), bound = RoundingError(type, x);
      EXPECT_LE(std::abs(RoundTo(type, x) - x), bound);
      EXPECT_LE(RoundingError(type, x / 3), bound);  // the bound holds for every smaller number
      // The midpoint just above the value below |x| in its binade, or the one below.
      const double down = std::abs(RoundTo(type, x)), spacing = UlpOf(type, x);
      const double middle = down <= std::abs(x) ? down - spacing / 2 : down - 1.5 * spacing;
      if (UlpOf(type, middle) != spacing) continue;
      EXPECT_EQ(std::abs(RoundTo(type, middle) - middle), bound);
    }
    const double least = MinSubnormal(type);
    EXPECT_EQ(RoundingError(type, least / 4), least / 4);  // rounded to 0
    EXPECT_EQ(RoundingError(type, least * 5), least / 2);
    EXPECT_EQ(RoundingError(type, 0), 0);
  }
  EXPECT_EQ(RoundingError(DType::kF64, 1.5), 0x1p-53);
  EXPECT_EQ(RoundingError(DType::kF64, 0x1p-1070), 0x1p-1074);  // half of it is not a double
}

TEST(DType, NeighboursAreOneUlpApart) {
  for (const DType type : kSmall) {
    const std::vector<double> values = AllValues(type);
    for (const double x : values) {
      EXPECT_EQ(UlpDistance(type, x, x), 0u);
      if (x == MaxFinite(type)) continue;
      EXPECT_EQ(NextUp(type, x),
                x + (x < 0 ? UlpOf(type, std::nextafter(x, 0.0)) : UlpOf(type, x)));
      EXPECT_EQ(NextDown(type, NextUp(type, x)), x == 0 ? 0 : x);
      EXPECT_EQ(UlpDistance(type, x, NextUp(type, x)), 1u);
    }
  }
  EXPECT_EQ(NextUp(DType::kF16, 65504), INFINITY);
  EXPECT_EQ(NextDown(DType::kF32, 1), 1 - 0x1p-24);
}

TEST(DType, DistanceCountsAcrossZero) {
  EXPECT_EQ(UlpDistance(DType::kF16, -0.0, 0.0), 0u);
  EXPECT_EQ(UlpDistance(DType::kF16, -0x1p-24, 0x1p-24), 2u);
  EXPECT_EQ(UlpDistance(DType::kF16, -65504, 65504), 2u * 0x7BFF);
  EXPECT_EQ(UlpDistance(DType::kF32, 1, 2), 1u << 23);
  EXPECT_EQ(UlpDistance(DType::kF8E4M3FN, -448, 448), 2u * 0x7E);
  EXPECT_EQ(UlpDistance(DType::kF8E4M3FNUZ, -240, 240), 2u * 0x7F);
  EXPECT_EQ(UlpDistance(DType::kF64, -MaxFinite(DType::kF64), MaxFinite(DType::kF64)),
            2 * 0x7FEFFFFFFFFFFFFFu);
}

TEST(DType, ContainsTypesWhoseValuesItHolds) {
  const auto expect = [](std::string_view outer, const std::string& inner) {
    std::string contained;
    for (const DType type : kDTypes) {
      if (!Contains(ParseDType(outer), type)) continue;
      if (!contained.empty()) contained += ' ';
      contained += NameOf(type);
    }
    EXPECT_EQ(contained, inner) << outer;
  };
  expect("f64",
         "f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4 e8m0 i64");
  expect("f32", "f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4 e8m0");
  expect("f16", "f16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4");
  expect("bf16", "bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4 e8m0");
  // Lacks 2^-10, the smallest value of f8_e4m3fnuz.
  expect("f8_e4m3fn", "f8_e4m3fn f4_e2m1 i4");
  expect("f8_e5m2", "f8_e5m2 f4_e2m1");
  expect("f8_e4m3fnuz", "f8_e4m3fnuz f4_e2m1 i4");
  expect("f8_e5m2fnuz", "f8_e5m2fnuz f4_e2m1");  // has all numbers of f8_e5m2, but no infinity
  expect("f4_e2m1", "f4_e2m1");
  expect("i8", "i8 i4");
  expect("i4", "i4");
  expect("e8m0", "e8m0");
  expect("i64", "i8 i4 i64");
}

// By its definition, for all pairs of small types.
TEST(DType, ContainsExactlyWhatItRepresents) {
  for (const DType outer : kSmall) {
    for (const DType inner : kSmall) {
      std::vector<double> values = AllValues(inner);
      if (HasInfinity(inner)) values.push_back(INFINITY);
      const bool all =
          std::ranges::all_of(values, [&](double x) { return IsRepresentable(outer, x); });
      EXPECT_EQ(Contains(outer, inner), all) << NameOf(outer) << " " << NameOf(inner);
    }
  }
}

TEST(DType, NamesParseBack) {
  for (const DType type : kDTypes) EXPECT_EQ(ParseDType(NameOf(type)), type);
  EXPECT_EQ(SizeOf(DType::kF64), 8u);
  EXPECT_EQ(SizeOf(DType::kI64), 8u);
  EXPECT_EQ(SizeOf(DType::kF32), 4u);
  EXPECT_EQ(SizeOf(DType::kBF16), 2u);
  EXPECT_EQ(SizeOf(DType::kF8E5M2FNUZ), 1u);
  EXPECT_EQ(SizeOf(DType::kI4), 1u);
  EXPECT_EQ(MessageOf([&] { ParseDType("fp32"); }),
            "'fp32' is not one of: f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz "
            "f4_e2m1 i8 i4 e8m0 i64");
}

}  // namespace
}  // namespace sextant
