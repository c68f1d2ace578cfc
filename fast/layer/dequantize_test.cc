#include "fast/layer/dequantize.h"

#include <vector>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// Expects one product and one rounding, bit by bit, of all codes but NaN.
template <class T>
void ExpectNumbers(const QuantizedBlocks& blocks) {
  using C = Computed<T>;
  const Guarded<C> scale = Random(blocks.width).Fill<C>(blocks.count, 0.01, 3);
  Guarded<uint8_t> codes(blocks.rows * blocks.stride);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i * 37 % 256);
  Guarded<T> y(codes.size());
  Guarded<C> zero(blocks.count);
  for (size_t g = 0; g < zero.size(); ++g) zero[g] = static_cast<C>(7 * g) - 9;
  const bool counts_from_zero = blocks.width % 2 == 0;
  DequantizeRow(blocks, codes.data(), scale.data(), counts_from_zero ? zero.data() : nullptr,
                y.data());
  for (size_t i = 0; i < codes.size(); ++i) {
    const double code = DecodeBits(blocks.type, codes[i]);
    if (std::isnan(code)) continue;
    const size_t g = i % blocks.stride / blocks.width;
    const C number = (static_cast<C>(code) - (counts_from_zero ? zero[g] : 0)) * scale[g];
    ASSERT_EQ(ToDouble(y[i]), ToDouble(FromDouble<T>(number)))
        << NameOf(blocks.type) << " " << i << " of width " << blocks.width;
  }
}

template <class T>
class DequantizeKernel : public testing::Test {};
TYPED_TEST_SUITE(DequantizeKernel, AllTypes);

TYPED_TEST(DequantizeKernel, EveryWidthAroundTheVectors) {
  OnAllTargets([] {
    for (const DType type : kCodeTypes)
      for (size_t width = 1; width <= 67; ++width)
        ExpectNumbers<TypeParam>({3, 2, width, 3 * width, type, 0, 0});
  });
}

TYPED_TEST(DequantizeKernel, RowsLongerThanItsMemory) {
  OnAllTargets([] { ExpectNumbers<TypeParam>({3, 1, 2500, 7500, DType::kF8E4M3FN, 0, 0}); });
}

}  // namespace
}  // namespace sextant::fast
