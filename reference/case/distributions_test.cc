// The distributions: their values and the specs that they refuse.
#include "reference/case/distributions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "reference/base/error_test.h"
#include "reference/case/draw.h"

namespace sextant {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using Numbers = std::vector<double>;

Numbers DrawnBy(const std::string& line, size_t input = 0) {
  return DrawInputs(Case::Parse(line))[input].values.data;
}

// The error message for a spec, without the "@x='SPEC'" at its start.
std::string ErrorOfSpec(const std::string& spec, DType dtype = DType::kF32) {
  Tensor<double> tensor({1000});
  const std::string text = MessageOf([&] { Distribution(spec, "x", dtype).Fill(1, tensor); });
  const std::string start = "@x='" + spec + "'";
  EXPECT_TRUE(text.empty() || text.starts_with(start)) << text;
  return text.substr(std::min(start.size(), text.size()));
}

TEST(Distribution, RefusesUnknownNames) {
  EXPECT_EQ(ErrorOfSpec("gauss"),
            " is neither a list of numbers, nor FILE.npy#SHA256, nor one of: normal uniform "
            "near_one geometric circle_cos circle_sin one_hot powers_of_two special nonfinite "
            "payloads masked sequence borders hard random_positions blocks large_last codes "
            "midpoints ties");
  EXPECT_EQ(ErrorOfSpec("normal(1"), " has no closing ')'");
}

TEST(Distribution, RefusesInvalidArguments) {
  EXPECT_EQ(ErrorOfSpec("special(1)"), ": expected special");
  EXPECT_EQ(ErrorOfSpec("normal(1,2)"), ": expected normal or normal(s) with s > 0");
  EXPECT_EQ(ErrorOfSpec("normal(-1)"), ": expected normal or normal(s) with s > 0");
  EXPECT_EQ(ErrorOfSpec("normal(0)"), ": expected normal or normal(s) with s > 0");
  EXPECT_EQ(ErrorOfSpec("uniform(3)"), ": expected uniform or uniform(a,b) with a < b");
  EXPECT_EQ(ErrorOfSpec("uniform(1,0)"), ": expected uniform or uniform(a,b) with a < b");
  EXPECT_EQ(ErrorOfSpec("uniform(1,1)"), ": expected uniform or uniform(a,b) with a < b");
  EXPECT_EQ(ErrorOfSpec("uniform(1,2,3)"), ": expected uniform or uniform(a,b) with a < b");
  EXPECT_EQ(ErrorOfSpec("uniform(-1e308,1e308)"), ": expected uniform or uniform(a,b) with a < b");
  EXPECT_EQ(ErrorOfSpec("random_positions(2.5)"),
            ": expected random_positions or random_positions(n) with an integer n of 1 to 2^53");
  EXPECT_THAT(ErrorOfSpec("random_positions(0)"), HasSubstr("1 to 2^53"));
  EXPECT_THAT(ErrorOfSpec("random_positions(0x1p54)"), HasSubstr("1 to 2^53"));
  EXPECT_EQ(ErrorOfSpec("random_positions(0x1p53)", DType::kI64), "");
}

TEST(Distribution, RefusesArgumentsThatAreNotFiniteNumbers) {
  EXPECT_EQ(ErrorOfSpec("uniform(-inf,1)"), ": '-inf' is not a finite number");
  for (const char* spec : {"normal()", "special()", "uniform(0,)", "uniform(,1)", "normal(1..2)",
                           "normal(nan)", "normal(inf)", "sequence(9007199254740993)"}) {
    EXPECT_THROW(Distribution(spec, "x", DType::kF64), Error) << spec;
  }
}

TEST(Distribution, DrawsIntegersOnlyFromDistributionsOfIntegers) {
  EXPECT_EQ(ErrorOfSpec("normal", DType::kI64),
            ": x holds integers, expected a list of them, or one of: uniform one_hot sequence "
            "borders hard random_positions");
  EXPECT_EQ(ErrorOfSpec("sequence(0.5)", DType::kI64),
            ": expected sequence or sequence(p), of integers of at most 2^53");
  EXPECT_EQ(ErrorOfSpec("sequence(0.5)"), "");
  EXPECT_EQ(ErrorOfSpec("uniform(0,2.5)", DType::kI64),
            ": expected uniform or uniform(a,b) with a < b, of integers of at most 2^53");
  for (const double p : DrawnBy("rope_table R=2 S=100 @position=uniform(-1,2)")) {
    EXPECT_THAT(p, AnyOf(-1, 0, 1));
  }
}

// 2^16 - 1 overflows f16, and so does 6e4 times a number above 1.1.
TEST(Distribution, RefusesValuesThatOverflowTheDType) {
  EXPECT_EQ(ErrorOfSpec("borders", DType::kF16), ": element 6 is 65535, beyond the largest f16");
  EXPECT_THAT(ErrorOfSpec("normal(60000)", DType::kF16), HasSubstr("beyond the largest f16"));
  EXPECT_THAT(ErrorOfSpec("uniform(0,0x1p200)"), HasSubstr("beyond the largest f32"));
  EXPECT_EQ(ErrorOfSpec("uniform(0,0x1p200)", DType::kF64), "");
  EXPECT_EQ(ErrorOfSpec("nonfinite", DType::kF16), "");
}

TEST(Distribution, NormalHasMeanZeroAndItsScale) {
  for (const double scale : {1.0, 30.0}) {
    double sum = 0, squares = 0;
    const Numbers values =
        DrawnBy("rms_norm N=1 M=20000 dtype=f64 @x=normal(" + std::to_string(scale) + ")");
    for (const double x : values) {
      sum += x / scale;
      squares += x * x / (scale * scale);
      EXPECT_LE(std::abs(x), 6 * scale);
    }
    // Six standard deviations of the mean of 20000 numbers, and of their squares.
    EXPECT_LE(std::abs(sum / 20000), 6 / std::sqrt(20000));
    EXPECT_LE(std::abs(squares / 20000 - 1), 6 * std::sqrt(2.0 / 20000));
  }
}

TEST(Distribution, UniformFillsItsRange) {
  const auto within = [](const std::string& spec, double low, double high) {
    const Numbers values = DrawnBy("rms_norm N=1 M=2000 dtype=f64 @x=" + spec);
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GE(least, low);
    EXPECT_LT(most, high);
    EXPECT_LT(least, low + (high - low) / 100);
    EXPECT_GT(most, high - (high - low) / 100);
  };
  within("uniform", -1, 1);
  within("uniform(3,7)", 3, 7);
  within("near_one", 0.5, 1.5);
}

TEST(Distribution, GeometricFallsLikeFrequencies) {
  const Numbers f = DrawnBy("rope_table S=1 R=128", 1);
  EXPECT_EQ(f.front(), 1);
  EXPECT_TRUE(std::is_sorted(f.rbegin(), f.rend()));
  EXPECT_NEAR(f.back(), 1e-4, 1e-4);
  EXPECT_GT(f.back(), 0);
}

TEST(Distribution, CosAndSinBelongToOneAngle) {
  const std::string line = "rope_rotate pairing=half H=1 S=50 D=8 dtype=f64";
  const Numbers c = DrawnBy(line, 1), s = DrawnBy(line, 2);
  std::set<std::pair<bool, bool>> quadrants;
  for (size_t i = 0; i < c.size(); ++i) {
    EXPECT_NEAR(c[i] * c[i] + s[i] * s[i], 1, 0x1p-50);
    quadrants.insert({c[i] > 0, s[i] > 0});
  }
  EXPECT_EQ(quadrants.size(), 4u);
}

TEST(Distribution, OneHotVisitsEveryChannel) {
  EXPECT_THAT(DrawnBy("rms_norm N=4 M=3 @x=one_hot"),
              ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0));
}

TEST(Distribution, BlocksOfRowsShareAChannel) {
  const auto positive = Gt(0);
  EXPECT_THAT(DrawnBy("rms_norm N=5 M=2 @x=blocks(2)"),
              ElementsAre(positive, 0, positive, 0, 0, positive, 0, positive, positive, 0));
}

TEST(Distribution, LargeLastSetsTheLastColumn) {
  EXPECT_THAT(DrawnBy("rms_norm N=2 M=2 @x=large_last(7)"), ElementsAre(Lt(6), 7, Lt(6), 7));
}

TEST(Distribution, PowersOfTwoHaveAllExponentsAndSigns) {
  std::set<double> seen;
  for (const double x : DrawnBy("rms_norm N=1 M=1000 @x=powers_of_two")) {
    int exponent = 0;
    EXPECT_EQ(std::abs(std::frexp(x, &exponent)), 0.5);
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 34u);  // both signs of 2^-8 .. 2^8
}

TEST(Distribution, SpecialHasTheLimitsOfTheDType) {
  const Numbers values = DrawnBy("rms_norm N=1 M=500 dtype=f16 @x=special");
  for (const double x : {0.0, 1.0, 1 + 0x1p-10, 0x1p-24, 0x1p-14, 65504.0, -65504.0, 3.0}) {
    EXPECT_THAT(values, testing::Contains(x));
  }
}

TEST(Distribution, NonFiniteHasEveryKind) {
  size_t nan = 0, infinite = 0, finite = 0;
  for (const double x : DrawnBy("rms_norm N=1 M=100 @x=nonfinite")) {
    nan += std::isnan(x);
    infinite += std::isinf(x);
    finite += std::isfinite(x);
  }
  EXPECT_GT(nan, 0u);
  EXPECT_GT(infinite, 1u);
  EXPECT_GT(finite, 50u);
}

TEST(Distribution, MaskedHasOnlyNegativeInfinities) {
  size_t masked = 0;
  for (const double x : DrawnBy("rms_norm N=1 M=100 @x=masked")) {
    EXPECT_TRUE(std::isfinite(x) || x == -INFINITY);
    masked += std::isinf(x);
  }
  EXPECT_GT(masked, 20u);
  EXPECT_LT(masked, 50u);
  const auto plain = DrawnBy("rms_norm N=1 M=4 dtype=f64 @x=masked");
  const auto larger = DrawnBy("rms_norm N=1 M=4 dtype=f64 @x=masked(8)");
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(larger[i], 8 * plain[i]);
}

TEST(Distribution, PositionSetsHaveTheirDocumentedValues) {
  const auto positions = [](const std::string& spec, int count) {
    return DrawnBy("rope_table R=2 S=" + std::to_string(count) + " @position=" + spec);
  };
  EXPECT_THAT(positions("sequence", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(positions("sequence(-1)", 3), ElementsAre(-1, 0, 1));
  EXPECT_THAT(positions("borders", 13), ElementsAre(255, 256, 257, 2047, 2048, 2049, 65535, 65536,
                                                    65537, 16777215, 16777216, 16777217, 255));
  for (const double p : positions("random_positions(3)", 100)) EXPECT_THAT(p, AnyOf(0, 1, 2));
  EXPECT_EQ(std::ranges::max(positions("hard", 16)), 1048576);
}

// |p - n pi/2| < 4/p for the hard positions p above 3, as for convergents.
TEST(Distribution, HardPositionsLieNextToMultiplesOfHalfPi) {
  for (const double p : DrawnBy("rope_table R=2 S=16 @position=hard")) {
    if (p <= 3 || p == 1048576) continue;
    const double distance = std::abs(std::remainder(p, std::acos(-1.0) / 2));
    EXPECT_LT(distance, 4 / p) << p;
  }
}

TEST(Payloads, AreOnesZerosAndRandomBitsWithBothSigns) {
  for (const auto& [type, least, ones] :
       {std::tuple(DType::kF32, 0x7fc00000u, 0x7fffffffu),
        std::tuple(DType::kBF16, 0x7fc0u, 0x7fffu), std::tuple(DType::kF16, 0x7e00u, 0x7fffu)}) {
    const Numbers x =
        DrawnBy("softmax N=1 M=64 dtype=" + std::string(NameOf(type)) + " @x=payloads");
    const uint64_t sign = uint64_t{1} << (8 * SizeOf(type) - 1);
    std::set<uint64_t> found, signs;
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(std::isnan(x[i]), i % 4 != 3);
      if (i % 4 == 3) continue;
      const uint64_t bits = EncodeBits(type, x[i]);
      EXPECT_EQ(bits & least, least);
      if (i % 4 == 0) EXPECT_EQ(bits & ~sign, ones);
      if (i % 4 == 1) EXPECT_EQ(bits & ~sign, least);
      found.insert(bits & ~sign);
      signs.insert(bits & sign);
    }
    EXPECT_EQ(signs.size(), 2);
    EXPECT_GT(found.size(), 10);
  }
}

// 0, the smallest subnormal number ... infinity, NaN; then the same negated.
TEST(Codes, AreAllBitPatternsInOrder) {
  const Numbers half = DrawnBy("softmax N=1 M=65536 dtype=f16 @x=codes");
  EXPECT_EQ(half[1], 0x1p-24);
  EXPECT_EQ(half[0x3c00], 1);
  EXPECT_EQ(half[0x7c00], kInfinity);
  for (const uint64_t code : {0x7e01u, 0x7fffu, 0xfe01u, 0xffffu})
    EXPECT_EQ(EncodeBits(DType::kF16, half[code]), code);
  EXPECT_EQ(EncodeBits(DType::kF16, half[0x7c01]), 0x7e01);  // signaling
  EXPECT_TRUE(half[0x8000] == 0 && std::signbit(half[0x8000]));
  EXPECT_EQ(half[0xfbff], -65504);
  const Numbers eight = DrawnBy("softmax N=1 M=258 dtype.x=f8_e4m3fn @x=codes");
  EXPECT_EQ(eight[0x7e], 448);
  EXPECT_TRUE(std::isnan(eight[0x7f]));
  EXPECT_EQ(eight[257], 0x1p-9);  // they begin again
}

// e4m3fn: 2^-9 is the smallest number, 448 the largest, 480 would be the next.
TEST(Midpoints, ComeFromBothEndsWithTheirNeighbours) {
  const Numbers x = DrawnBy("softmax N=1 M=762 @x=midpoints(f8_e4m3fn)");
  const float low = 0x1p-10f, high = 464;
  EXPECT_THAT(Numbers(x.begin(), x.begin() + 12),
              ElementsAre(std::nextafter(low, 0.f), low, std::nextafter(low, 1.f),
                          -std::nextafter(low, 0.f), -low, -std::nextafter(low, 1.f),
                          std::nextafter(high, 0.f), high, std::nextafter(high, 1e9f),
                          -std::nextafter(high, 0.f), -high, -std::nextafter(high, 1e9f)));
  const std::set<double> all(x.begin(), x.end());  // of 127 midpoints
  EXPECT_EQ(all.size(), 762u);
  for (const double middle : {1.0625, 0x1.8p-9, 432.0, 0x1.1p-6}) EXPECT_TRUE(all.contains(middle));
}

// The largest number of e4m3fn is 448, so that the scale of a row is a power of two.
TEST(Ties, AreMidpointsAndTheirNeighboursAfterTheLargestNumber) {
  const Numbers x = DrawnBy("softmax N=7 M=65 @x=ties(f8_e4m3fn)");
  size_t midpoints = 0, neighbours = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float power = std::ldexp(1.f, -static_cast<int>(i / 65 % 5));
    const float number = std::abs(static_cast<float>(x[i])) / power;
    if (i % 65 == 0) {
      EXPECT_EQ(number, 448) << i;
      continue;
    }
    const auto is_middle = [](float middle) {
      const double ulp = UlpOf(DType::kF8E4M3FN, middle);
      return std::abs(std::remainder(middle, ulp)) == ulp / 2;
    };
    midpoints += is_middle(number);
    neighbours += is_middle(std::nextafter(number, 0.f)) || is_middle(std::nextafter(number, 1e9f));
  }
  EXPECT_EQ(midpoints + neighbours, 7u * 64);
  EXPECT_GT(midpoints, 7u * 64 / 3);
  EXPECT_GT(neighbours, 7u * 64 / 3);
}

TEST(Midpoints, NeedATypeThatTheInputRefines) {
  EXPECT_EQ(ErrorOfSpec("midpoints"),
            ": expected midpoints(TYPE), for f32 with a TYPE of: f16 bf16 f8_e4m3fn f8_e5m2 "
            "f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4");
  EXPECT_EQ(ErrorOfSpec("midpoints(f16)", DType::kBF16),
            ": expected midpoints(TYPE), for bf16 with a TYPE of: f8_e4m3fn f8_e5m2 f8_e4m3fnuz "
            "f8_e5m2fnuz f4_e2m1 i4");
}

}  // namespace
}  // namespace sextant
