// All codes of each type of 8 and 4 bits, found without the decoder: by counting up from zero.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {
namespace {

// As the tables of the specifications say it (dtype.h).
struct FewBits {
  DType type;
  double least;         // the smallest number above 0
  size_t per_binade;    // numbers in a binade, and in the subnormal range with 0
  size_t finite;        // codes 0, 1, ... of finite numbers
  double largest;       // of the last of them
  bool has_infinity;    // is the next code
  bool has_minus_zero;  // is the code of the sign alone, which is else NaN
  size_t sign = 0x80;   // the codes from here on are negative
};
constexpr FewBits kTypes[] = {
    {DType::kF8E4M3FN, 0x1p-9, 8, 0x7F, 448, false, true},
    {DType::kF8E5M2, 0x1p-16, 4, 0x7C, 57344, true, true},
    {DType::kF8E4M3FNUZ, 0x1p-10, 8, 0x80, 240, false, false},
    {DType::kF8E5M2FNUZ, 0x1p-17, 4, 0x80, 57344, false, false},
    {DType::kF4E2M1, 0.5, 2, 8, 6, false, true, 8},
};

// The values of the codes below `sign`. The spacing doubles at the beginning of each binade, but
// the first has that of the subnormal numbers.
std::vector<double> CountedUp(const FewBits& of) {
  std::vector<double> values;
  double value = 0, spacing = of.least;
  for (size_t code = 0; code < of.sign; ++code, value += spacing) {
    if (code >= 2 * of.per_binade && code % of.per_binade == 0) spacing *= 2;
    values.push_back(code < of.finite                       ? value
                     : code == of.finite && of.has_infinity ? INFINITY
                                                            : NAN);
  }
  EXPECT_EQ(values[of.finite - 1], of.largest);
  return values;
}

TEST(DTypeCodes, DecodeAndEncodeAll) {
  for (const FewBits& of : kTypes) {
    const std::vector<double> values = CountedUp(of);
    for (size_t code = 0; code < 2 * of.sign; ++code) {
      SCOPED_TRACE(std::string(NameOf(of.type)) + " " + std::to_string(code));
      double expected = code < of.sign ? values[code] : -values[code - of.sign];
      if (code == of.sign && !of.has_minus_zero) expected = NAN;
      const double found = DecodeBits(of.type, code);
      ASSERT_TRUE(SameNumber(found, expected)) << found << " " << expected;
      if (std::isnan(expected)) continue;
      EXPECT_EQ(std::signbit(found), code >= of.sign);
      EXPECT_EQ(EncodeBits(of.type, expected), code);
      EXPECT_TRUE(IsRepresentable(of.type, expected));
      EXPECT_TRUE(SameNumber(RoundTo(of.type, expected), expected));
    }
    if (HasNaN(of.type)) EXPECT_TRUE(std::isnan(DecodeBits(of.type, EncodeBits(of.type, NAN))));
  }
}

// Midpoints go to the even code, numbers just beside them to the nearer one.
TEST(DTypeCodes, RoundToTheNearest) {
  for (const FewBits& of : kTypes) {
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

TEST(DTypeCodes, OfIntegersAreTwosComplement) {
  for (const auto& [type, bits] : {std::pair(DType::kI8, 8), std::pair(DType::kI4, 4)}) {
    const int half = 1 << (bits - 1);
    EXPECT_EQ(Lowest(type), -half);
    EXPECT_EQ(MaxFinite(type), half - 1);
    for (int x = -half; x < half; ++x) {
      const auto code = static_cast<uint64_t>(x < 0 ? x + 2 * half : x);
      EXPECT_EQ(DecodeBits(type, code), x);
      EXPECT_EQ(EncodeBits(type, x), code);
      EXPECT_TRUE(IsRepresentable(type, x));
      EXPECT_FALSE(IsRepresentable(type, x + 0.5));
      const double even = x == half - 1 ? kNaN : x % 2 == 0 ? x : x + 1;
      EXPECT_TRUE(SameNumber(RoundTo(type, x + 0.5), even)) << x;
    }
    for (const double none : {half + 0.0, -half - 1.0, kInfinity, -0.0, kNaN})
      EXPECT_FALSE(IsRepresentable(type, none)) << none;
    EXPECT_FALSE(std::signbit(RoundTo(type, -0.25)));
    EXPECT_TRUE(std::isnan(NextUp(type, half - 1)));
    EXPECT_TRUE(std::isnan(NextDown(type, -half)));
    EXPECT_EQ(NextDown(type, 1 - half), -half);
    EXPECT_EQ(UlpDistance(type, -half, half - 1), 2u * half - 1);
  }
  EXPECT_EQ(DecodeBits(DType::kI4, 0xFD), -3) << "only the low bits are read";
  EXPECT_EQ(EncodeBits(DType::kI8, NAN), 0u) << "without a value";
}

TEST(DTypeCodes, OfPowersOfTwoAreTheirExponents) {
  for (int code = 0; code < 255; ++code) {
    const double power = std::ldexp(1, code - 127);
    EXPECT_EQ(DecodeBits(DType::kE8M0, static_cast<uint64_t>(code)), power);
    EXPECT_EQ(EncodeBits(DType::kE8M0, power), static_cast<uint64_t>(code));
    EXPECT_TRUE(IsRepresentable(DType::kE8M0, power));
    for (const double none : {-power, power * 1.5})
      EXPECT_FALSE(IsRepresentable(DType::kE8M0, none));
  }
  EXPECT_TRUE(std::isnan(DecodeBits(DType::kE8M0, 255)));
  EXPECT_EQ(EncodeBits(DType::kE8M0, NAN), 255u);
  for (const double none : {0.0, 0x1p-128, 0x1p128, kInfinity})
    EXPECT_FALSE(IsRepresentable(DType::kE8M0, none)) << none;
  EXPECT_EQ(NextUp(DType::kE8M0, 1), 2);
  EXPECT_EQ(NextDown(DType::kE8M0, 1), 0.5);
  EXPECT_TRUE(std::isnan(NextDown(DType::kE8M0, 0x1p-127)));
  EXPECT_TRUE(std::isnan(NextUp(DType::kE8M0, 0x1p127)));
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
  expect(DType::kF4E2M1, 0b0'00'1, 0.5);
  expect(DType::kF4E2M1, 0b1'01'1, -1.5);
  expect(DType::kF4E2M1, 0b0'11'1, 6);
}

}  // namespace
}  // namespace sextant
