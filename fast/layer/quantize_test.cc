#include "fast/layer/quantize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

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
    const C expected_scale = blocks.op ? static_cast<C>(std::exp2(std::floor(std::log2(largest)) -
                                                                  std::floor(std::log2(limit))))
                                       : largest / limit;
    ASSERT_EQ(scale[g], expected_scale) << g;
    for (const size_t i : elements) {
      const C scaled = std::clamp<C>(static_cast<C>(ToDouble(x[i])) / scale[g], -limit, limit);
      const auto expected = static_cast<uint8_t>(
          EncodeBits(blocks.type, Chosen(blocks.op ? blocks.op->ChoiceOf(1) : Choice::kNearestEven,
                                         blocks.type, static_cast<double>(scaled))));
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

TYPED_TEST(QuantizeKernel, ScalesThatArePowersOfTwo) {
  OnAllTargets([] {
    const Quantize op{
        .scale_rule = ScaleRule::kFloor, .ties = Ties::kAway, .rounded_dtype = DType::kF4E2M1};
    const auto x = Random().Fill<TypeParam>(3 * 32, -900, 900);
    ExpectBlocks<TypeParam>({3, 1, 32, 96, DType::kF4E2M1, 6, 0, &op}, x);
  });
}

// 63.5 of 127 is a tie.
TYPED_TEST(QuantizeKernel, TiesAwayAndTheStoredScale) {
  OnAllTargets([] {
    Guarded<TypeParam> x(3);
    for (const auto& [i, value] : {std::pair(0, 127.0), std::pair(1, -62.5), std::pair(2, 63.0)})
      x[static_cast<size_t>(i)] = FromDouble<TypeParam>(static_cast<Computed<TypeParam>>(value));
    Guarded<Computed<TypeParam>> scale(1);
    Guarded<uint8_t> codes(3);
    for (const Ties ties : {Ties::kEven, Ties::kAway}) {
      const Quantize op{.ties = ties, .rounded_dtype = DType::kI8, .scale_dtype = DType::kF16};
      QuantizeRow({1, 1, 3, 3, DType::kI8, 127, 0, &op}, x.data(), scale.data(), codes.data());
      EXPECT_EQ(scale[0], 1);
      EXPECT_EQ(static_cast<int8_t>(codes[1]), ties == Ties::kAway ? -63 : -62);
    }
  });
}

// 12 / 6 / 0.5 is 4; 3.1875 / (4 * 0.5) rounds to 1.5. 2100 / 6 / 0.5 is 700, limited to 448.
TYPED_TEST(QuantizeKernel, ScalesInUnitsOfThatOfTheTensor) {
  OnAllTargets([] {
    const Quantize op{.rounded_dtype = DType::kF4E2M1, .scale_dtype = DType::kF8E4M3FN};
    Guarded<TypeParam> x(4);
    for (const auto& [i, value] :
         {std::pair(0, 12.0), std::pair(1, -3.1875), std::pair(2, 2100.0), std::pair(3, 672.0)})
      x[static_cast<size_t>(i)] = FromDouble<TypeParam>(static_cast<Computed<TypeParam>>(value));
    Guarded<Computed<TypeParam>> scale(2);
    Guarded<uint8_t> codes(4);
    QuantizeRow({2, 1, 2, 4, DType::kF4E2M1, 6, 0, &op, 0.5}, x.data(), scale.data(), codes.data());
    EXPECT_THAT(std::vector(scale.data(), scale.data() + 2), testing::ElementsAre(4, 448));
    for (const auto& [i, code] :
         {std::pair(0, 6.0), std::pair(1, -1.5), std::pair(2, 6.0), std::pair(3, 3.0)})
      EXPECT_EQ(codes[static_cast<size_t>(i)], EncodeBits(DType::kF4E2M1, code)) << i;
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
