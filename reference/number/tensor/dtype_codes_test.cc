// All 256 codes of each 8-bit type, found without the decoder: by counting up from zero.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {
namespace {

// As the tables of the specifications say it (dtype.h).
struct EightBits {
  DType type;
  double least;         // the smallest number above 0
  size_t per_binade;    // numbers in a binade, and in the subnormal range with 0
  size_t finite;        // codes 0, 1, ... of finite numbers
  double largest;       // of the last of them
  bool has_infinity;    // is the next code
  bool has_minus_zero;  // is the code 0x80, which is else NaN
};
constexpr EightBits kTypes[] = {
    {DType::kF8E4M3FN, 0x1p-9, 8, 0x7F, 448, false, true},
    {DType::kF8E5M2, 0x1p-16, 4, 0x7C, 57344, true, true},
    {DType::kF8E4M3FNUZ, 0x1p-10, 8, 0x80, 240, false, false},
    {DType::kF8E5M2FNUZ, 0x1p-17, 4, 0x80, 57344, false, false},
};

// The values of codes 0x00 .. 0x7F. The spacing doubles at the beginning of each binade, but the
// first has that of the subnormal numbers.
std::vector<double> CountedUp(const EightBits& of) {
  std::vector<double> values;
  double value = 0, spacing = of.least;
  for (size_t code = 0; code < 0x80; ++code, value += spacing) {
    if (code >= 2 * of.per_binade && code % of.per_binade == 0) spacing *= 2;
    values.push_back(code < of.finite                       ? value
                     : code == of.finite && of.has_infinity ? INFINITY
                                                            : NAN);
  }
  EXPECT_EQ(values[of.finite - 1], of.largest);
  return values;
}

TEST(DTypeCodes, DecodeAndEncodeAll256) {
  for (const EightBits& of : kTypes) {
    const std::vector<double> values = CountedUp(of);
    for (size_t code = 0; code < 0x100; ++code) {
      SCOPED_TRACE(std::string(NameOf(of.type)) + " " + std::to_string(code));
      double expected = code < 0x80 ? values[code] : -values[code - 0x80];
      if (code == 0x80 && !of.has_minus_zero) expected = NAN;
      const double found = DecodeBits(of.type, code);
      ASSERT_TRUE(SameNumber(found, expected)) << found << " " << expected;
      if (std::isnan(expected)) continue;
      EXPECT_EQ(std::signbit(found), code >= 0x80);
      EXPECT_EQ(EncodeBits(of.type, expected), code);
      EXPECT_TRUE(IsRepresentable(of.type, expected));
      EXPECT_TRUE(SameNumber(RoundTo(of.type, expected), expected));
    }
    EXPECT_TRUE(std::isnan(DecodeBits(of.type, EncodeBits(of.type, NAN))));
  }
}

// Midpoints go to the even code, numbers just beside them to the nearer one.
TEST(DTypeCodes, RoundToTheNearestOf256) {
  for (const EightBits& of : kTypes) {
    const std::vector<double> values = CountedUp(of);
    for (size_t code = 0; code + 1 < of.finite; ++code) {
      const double low = values[code], high = values[code + 1], middle = (low + high) / 2;
      for (const double sign : {1.0, -1.0}) {
        SCOPED_TRACE(std::string(NameOf(of.type)) + " " + std::to_string(sign * middle));
        const auto rounded = [&](double x) { return sign * RoundTo(of.type, sign * x); };
        EXPECT_EQ(rounded(middle), code % 2 == 0 ? low : high);
        EXPECT_EQ(rounded(std::nextafter(middle, low)), low);
        EXPECT_EQ(rounded(std::nextafter(middle, high)), high);
        EXPECT_EQ(UlpOf(of.type, sign * low), high - low);
        EXPECT_EQ(NextUp(of.type, low), high);
        EXPECT_EQ(NextDown(of.type, high), low);
        EXPECT_EQ(UlpDistance(of.type, -low, high), 2 * code + 1);
      }
    }
  }
}

// Codes that the specifications name.
TEST(DTypeCodes, AreThoseOfTheSpecifications) {
  const auto expect = [](DType type, uint64_t code, double value) {
    EXPECT_EQ(DecodeBits(type, code), value) << NameOf(type) << " " << code;
    EXPECT_EQ(EncodeBits(type, value), code) << NameOf(type) << " " << value;
  };
  expect(DType::kF8E4M3FN, 0b0'1111'110, 448);
  expect(DType::kF8E4M3FN, 0b0'0111'000, 1);
  expect(DType::kF8E4M3FN, 0b0'0001'000, 0x1p-6);
  expect(DType::kF8E4M3FN, 0b1'0000'111, -0.875 * 0x1p-6);
  expect(DType::kF8E5M2, 0b1'11110'11, -57344);
  expect(DType::kF8E5M2, 0b0'01111'00, 1);
  expect(DType::kF8E5M2, 0b0'00001'00, 0x1p-14);
  expect(DType::kF8E5M2, 0b0'11111'00, INFINITY);
  expect(DType::kF8E4M3FNUZ, 0b0'1111'111, 240);
  expect(DType::kF8E4M3FNUZ, 0b0'1000'000, 1);
  expect(DType::kF8E4M3FNUZ, 0b0'0001'000, 0x1p-7);
  expect(DType::kF8E5M2FNUZ, 0b0'11111'11, 57344);
  expect(DType::kF8E5M2FNUZ, 0b1'10000'00, -1);
  expect(DType::kF8E5M2FNUZ, 0b0'00001'00, 0x1p-15);
}

}  // namespace
}  // namespace sextant
