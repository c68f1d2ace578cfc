#include "fast/layer/cast.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fast/kernel/kernel_test.h"
#include "reference/case/distributions.h"

namespace sextant::fast {
namespace {

// The attribute values that exist for a type.
std::vector<Overflow> OverflowsOf(DType type) {
  return {Overflow::kSaturate, HasInfinity(type) ? Overflow::kInf : Overflow::kNan};
}

// Elements of a type in guarded memory, as bytes.
Guarded<uint8_t> Elements(DType type, const std::vector<double>& numbers) {
  Guarded<uint8_t> bytes(numbers.size() * SizeOf(type));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t bits = EncodeBits(type, numbers[i]);
    std::memcpy(bytes.data() + i * SizeOf(type), &bits, SizeOf(type));  // little-endian
  }
  return bytes;
}

// Expects what CastTo says, bit by bit; any NaN for NaN.
void ExpectConversion(DType from, DType to, Overflow overflow, const std::vector<double>& x) {
  const Guarded<uint8_t> elements = Elements(from, x);
  Guarded<uint8_t> y(x.size() * SizeOf(to));
  Convert(from, elements.data(), to, y.data(), overflow, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, y.data() + i * SizeOf(to), SizeOf(to));
    const double expected = CastTo(to, overflow, x[i]), got = DecodeBits(to, bits);
    const bool same = std::isnan(expected) ? std::isnan(got) : bits == EncodeBits(to, expected);
    ASSERT_TRUE(same) << NameOf(from) << " to " << NameOf(to)
                      << ", overflow=" << PrintValue(overflow) << ": " << x[i] << " becomes " << got
                      << ", expected " << expected;
  }
}

void ExpectConversions(DType from, const std::vector<double>& x) {
  OnAllTargets([&] {
    for (const DType to : kTensorTypes)
      for (const Overflow overflow : OverflowsOf(to)) ExpectConversion(from, to, overflow, x);
  });
}

std::vector<double> DrawnFor(const std::string& spec, DType type, size_t count) {
  Tensor<double> numbers({count});
  Distribution(spec, "x", type).Fill(1, numbers);
  return numbers.data;
}

TEST(Convert, EveryPatternOf16And8Bits) {
  for (const DType from : kTensorTypes) {
    if (SizeOf(from) <= 2) ExpectConversions(from, DrawnFor("codes", from, 1 << 16));
  }
}

// f32 and f64 where rounding is decided: at midpoints of each type, and beside them.
TEST(Convert, MidpointsAndTheirNeighbours) {
  for (const DType from : {DType::kF64, DType::kF32}) {
    for (const DType to : kTensorTypes) {
      if (SizeOf(to) >= SizeOf(from)) continue;
      const size_t count = SizeOf(to) == 1 ? 6 * 128 : size_t{1} << 14;
      const auto x = DrawnFor("midpoints(" + std::string(NameOf(to)) + ")", from, count);
      OnAllTargets([&] {
        for (const Overflow overflow : OverflowsOf(to)) ExpectConversion(from, to, overflow, x);
      });
    }
  }
}

// Both ends of f32 and f64: subnormal numbers, infinities and NaN.
TEST(Convert, NumbersBeyondEveryNarrowerType) {
  for (const DType from : {DType::kF64, DType::kF32}) {
    std::vector<double> x = {0.0,   kInfinity, kNaN, MaxFinite(from), MinSubnormal(from),
                             1e-40, 1e-300,    3e38, 0x1p127,         0x1.fffffp127};
    for (double& number : x) number = RoundTo(from, number);
    for (size_t i = x.size(); i-- > 0;) x.push_back(-x[i]);
    ExpectConversions(from, x);
  }
}

// Vectors of 16 lanes down to one, alone and after other vectors; nothing is written after the end.
TEST(Convert, EveryWidth) {
  OnAllTargets([] {
    for (const DType from : kTensorTypes) {
      const std::vector<double> all = DrawnFor("normal(8)", from, 66);
      for (const DType to : kTensorTypes) {
        for (size_t n = 0; n <= 66; ++n)
          ExpectConversion(from, to, Overflow::kSaturate, {all.begin(), all.begin() + n});
      }
    }
  });
}

TEST(Convert, InPlaceIfTheSizeIsTheSame) {
  const std::vector<double> x = DrawnFor("normal(300)", DType::kBF16, 67);
  OnAllTargets([&] {
    Guarded<uint8_t> y(67 * 2), in_place = Elements(DType::kBF16, x);
    Convert(DType::kBF16, in_place.data(), DType::kF16, y.data(), Overflow::kInf, 67);
    Convert(DType::kBF16, in_place.data(), DType::kF16, in_place.data(), Overflow::kInf, 67);
    EXPECT_TRUE(in_place.SameBits(y));
  });
}

// Large enough for streaming stores.
TEST(SlowConvert, GivesTheSameBitsWhenStreaming) {
  const size_t count = 72'000'001;
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 1021) - 510;
  std::vector<uint8_t> whole(count), parts(count);
  Convert(DType::kF32, x.data(), DType::kF8E4M3FN, whole.data(), Overflow::kNan, count);
  for (size_t i = 0; i < count; i += 1 << 16) {
    Convert(DType::kF32, &x[i], DType::kF8E4M3FN, &parts[i], Overflow::kNan,
            std::min<size_t>(1 << 16, count - i));
  }
  EXPECT_TRUE(whole == parts);
}

}  // namespace
}  // namespace sextant::fast
