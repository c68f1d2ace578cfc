#include "reference/number/tensor/element_vectors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {
namespace {

// Values of the dtype, of every size; the first are special.
std::vector<double> RandomValues(DType dtype, size_t count, Random& random) {
  constexpr double kSpecial[] = {std::numeric_limits<double>::infinity(), -0.0, 0x1p-133,
                                 -std::numeric_limits<double>::infinity(), 0.0};
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(i < std::size(kSpecial) ? kSpecial[i] : RoundTo(dtype, random.Number(120)));
  return values;
}

void ExpectSameBits(const std::vector<double>& found, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(found[i]), std::bit_cast<uint64_t>(expected[i])) << i;
}

TEST(ElementVectors, AreThoseOfEncodeBitsAndNothingElseIsWritten) {
  OnEveryTarget([] {
    Random random(5);
    for (size_t n = 0; n <= 2 * kMostLanes + 1; ++n) {
      const std::vector<double> singles = RandomValues(DType::kF32, n, random);
      std::vector<float> floats(n + 1, 7.0f);
      Narrow(singles, floats.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(floats[i], static_cast<float>(singles[i]));
      EXPECT_EQ(floats[n], 7.0f);
      std::vector<double> wide(n);
      Widen(floats.data(), wide);
      ExpectSameBits(wide, singles);

      const std::vector<double> halves = RandomValues(DType::kBF16, n, random);
      std::vector<uint16_t> bits(n + 1, 7);
      NarrowToBF16(halves, bits.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(bits[i], EncodeBits(DType::kBF16, halves[i]));
      EXPECT_EQ(bits[n], 7);
      WidenBF16(bits.data(), wide);
      ExpectSameBits(wide, halves);
    }
  });
}

TEST(ElementVectors, KeepTheSignAndThePayloadOfANaN) {
  OnEveryTarget([] {
    for (size_t n = 1; n <= kMostLanes + 1; ++n) {
      for (const uint64_t bits :
           {0x7FF8000000000000u, 0xFFFFFFFFE0000000u, 0x7FF8001020000000u, 0xFFF8001000000000u}) {
        const auto nan = std::bit_cast<double>(bits);
        std::vector<double> back(n);
        std::vector<float> floats(n);
        Narrow(std::vector<double>(n, nan), floats.data());
        for (const float x : floats)
          EXPECT_EQ(std::bit_cast<uint32_t>(x), EncodeBits(DType::kF32, nan));
        Widen(floats.data(), back);
        ExpectSameBits(back, std::vector<double>(n, nan));
        std::vector<uint16_t> halves(n);
        NarrowToBF16(std::vector<double>(n, nan), halves.data());
        for (const uint16_t x : halves) EXPECT_EQ(x, EncodeBits(DType::kBF16, nan));
        WidenBF16(halves.data(), back);
        ExpectSameBits(back, std::vector<double>(n, DecodeBits(DType::kBF16, halves[0])));
      }
    }
  });
}

TEST(ElementVectors, MakeASignalingNaNQuiet) {
  OnEveryTarget([] {
    for (size_t n = 1; n <= kMostLanes + 1; ++n) {
      std::vector<double> back(n);
      WidenBF16(std::vector<uint16_t>(n, 0xFF81).data(), back);
      ExpectSameBits(back, std::vector<double>(n, DecodeBits(DType::kBF16, 0xFFC1)));
    }
  });
}

TEST(ElementVectors, AreFiniteFindsOneNumberThatIsNot) {
  OnEveryTarget([] {
    for (size_t n = 1; n <= 2 * kMostLanes + 1; ++n) {
      std::vector<double> x(n, std::numeric_limits<double>::max());
      EXPECT_TRUE(AreFinite(x));
      for (size_t i = 0; i < n; ++i) {
        for (const double special :
             {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::quiet_NaN()}) {
          std::vector<double> y = x;
          y[i] = special;
          EXPECT_FALSE(AreFinite(y)) << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant
