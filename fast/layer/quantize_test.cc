#include "fast/layer/quantize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fast/kernel/kernel_test.h"
#include "reference/layer/cast.h"

namespace sextant::fast {
namespace {

constexpr DType kCodeTypes[] = {DType::kF8E4M3FN, DType::kF8E5M2, DType::kF8E4M3FNUZ,
                                DType::kF8E5M2FNUZ};

// Expects the scale and the codes of one rounding each, bit by bit.
template <class T>
void ExpectBlocks(const QuantizedBlocks& blocks, const Guarded<T>& x) {
  using C = Computed<T>;
  const auto limit = static_cast<C>(blocks.limit);
  Guarded<C> scale(blocks.count);
  Guarded<uint8_t> codes(blocks.rows * blocks.stride);
  QuantizeRow(blocks, x.data(), scale.data(), codes.data());
  for (size_t g = 0; g < blocks.count; ++g) {
    std::vector<size_t> elements;
    C largest = static_cast<C>(blocks.least);
    for (size_t a = 0; a < blocks.rows; ++a)
      for (size_t k = 0; k < blocks.width; ++k)
        elements.push_back(a * blocks.stride + g * blocks.width + k);
    for (const size_t i : elements)
      largest = std::max(largest, std::abs(static_cast<C>(ToDouble(x[i]))));
    ASSERT_EQ(scale[g], largest / limit) << g;
    for (const size_t i : elements) {
      const C scaled = std::clamp<C>(static_cast<C>(ToDouble(x[i])) / scale[g], -limit, limit);
      const auto expected = static_cast<uint8_t>(
          EncodeBits(blocks.type, CastTo(blocks.type, Overflow::kSaturate, scaled)));
      ASSERT_EQ(codes[i], expected) << NameOf(blocks.type) << " " << i << " of width "
                                    << blocks.width << ": " << ToDouble(x[i]);
    }
  }
}

template <class T>
class QuantizeKernel : public testing::Test {};
TYPED_TEST_SUITE(QuantizeKernel, AllTypes);

TYPED_TEST(QuantizeKernel, EveryWidthAroundTheVectors) {
  OnAllTargets([] {
    for (size_t width = 1; width <= 67; ++width) {
      for (const DType type : kCodeTypes) {
        const auto x = Random(width).Fill<TypeParam>(3 * width, -900, 900);
        ExpectBlocks<TypeParam>({3, 1, width, 3 * width, type, MaxFinite(type), 0}, x);
      }
    }
  });
}

TYPED_TEST(QuantizeKernel, BlocksOfRows) {
  OnAllTargets([] {
    const auto x = Random().Fill<TypeParam>(5 * 2 * 17, -1, 1);
    ExpectBlocks<TypeParam>({2, 5, 17, 34, DType::kF8E4M3FN, 448, 0}, x);
    ExpectBlocks<TypeParam>({2, 5, 17, 34, DType::kF8E4M3FNUZ, 224, 100}, x);
  });
}

TYPED_TEST(QuantizeKernel, RowsLongerThanItsMemory) {
  OnAllTargets([] {
    const auto x = Random().Fill<TypeParam>(2 * 2500, -30000, 30000);
    ExpectBlocks<TypeParam>({2, 1, 2500, 5000, DType::kF8E5M2, 57344, 0}, x);
  });
}

}  // namespace
}  // namespace sextant::fast
