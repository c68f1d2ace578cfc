#include "reference/number/tensor/tensor_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::HasSubstr;

TEST(ValuesOf, ReadsEveryElementType) {
  const auto read = []<class T>(ElementType type, T element) {
    return ValuesOf({&element, type, {}, {}}).data[0];
  };
  EXPECT_EQ(read(ElementType::kF64, -0.1), -0.1);
  EXPECT_EQ(read(ElementType::kF32, 0.5F), 0.5);
  EXPECT_EQ(read(ElementType::kF16, uint16_t{0xC000}), -2);
  EXPECT_EQ(read(ElementType::kBF16, uint16_t{0x3FC0}), 1.5);
  EXPECT_EQ(read(ElementTypeOf(DType::kF8E4M3FN), uint8_t{0x7E}), 448);
  EXPECT_EQ(read(ElementTypeOf(DType::kF8E5M2), uint8_t{0xBC}), -1);
  EXPECT_EQ(read(ElementTypeOf(DType::kF8E4M3FNUZ), uint8_t{0x7F}), 240);
  EXPECT_EQ(read(ElementTypeOf(DType::kF8E5M2FNUZ), uint8_t{0x40}), 1);
  EXPECT_EQ(read(ElementType::kI64, int64_t{-7}), -7);
  EXPECT_EQ(read(ElementType::kI32, int32_t{-7}), -7);
  EXPECT_EQ(read(ElementType::kI16, int16_t{-7}), -7);
  EXPECT_EQ(read(ElementType::kI8, int8_t{-7}), -7);
  EXPECT_EQ(read(ElementType::kU64, uint64_t{1} << 53), 0x1p53);
  EXPECT_EQ(read(ElementType::kU32, uint32_t{0xFFFFFFFF}), 4294967295.0);
  EXPECT_EQ(read(ElementType::kU16, uint16_t{0xFFFF}), 65535);
  EXPECT_EQ(read(ElementType::kU8, uint8_t{0xFF}), 255);
}

TEST(ElementType, HasTheNamesAndSizesOfTheDTypesAndOfIntegers) {
  std::string text;
  constexpr auto kNames = NamesOf(ElementType());
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto type = static_cast<ElementType>(i);
    text += std::string(kNames[i]) + ":" + std::string(NameOf(DTypeOf(type))) + "/" +
            std::to_string(SizeOf(type)) + " ";
  }
  EXPECT_EQ(text,
            "f64:f64/8 f32:f32/4 f16:f16/2 bf16:bf16/2 f8_e4m3fn:f8_e4m3fn/1 f8_e5m2:f8_e5m2/1 "
            "f8_e4m3fnuz:f8_e4m3fnuz/1 f8_e5m2fnuz:f8_e5m2fnuz/1 "
            "f4_e2m1:f4_e2m1/1 i8:i8/1 i4:i4/1 e8m0:e8m0/1 i64:i64/8 i32:i64/4 i16:i64/2 "
            "u64:i64/8 u32:i64/4 u16:i64/2 u8:i64/1 ");
}

TEST(ValuesOf, RefusesIntegersBeyondTheDoubles) {
  const int64_t negative = -(int64_t{1} << 53) - 1;
  const uint64_t largest = ~uint64_t{0};
  EXPECT_EQ(MessageOf([&] {
              ValuesOf({&negative, ElementType::kI64, {}, {}});
            }),
            "has the integer -9007199254740993, expected at most 2^53 in magnitude");
  EXPECT_THAT(MessageOf([&] {
                ValuesOf({&largest, ElementType::kU64, {}, {}});
              }),
              HasSubstr("18446744073709551615"));
}

TEST(ValuesOf, FollowsStrides) {
  const float data[] = {0, 1, 2, 3, 4, 5};
  const auto values = [&](size_t first, const Shape& shape, const std::vector<int64_t>& strides) {
    return ValuesOf({data + first, ElementType::kF32, shape, strides}).data;
  };
  EXPECT_EQ(values(0, {3, 2}, {1, 3}), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(5, {3}, {-2}), (std::vector<double>{5, 3, 1}));
  EXPECT_EQ(values(2, {2, 2}, {0, 1}), (std::vector<double>{2, 3, 2, 3}));
  EXPECT_EQ(values(0, {2, 0, 3}, {3, 3, 1}), std::vector<double>());
}

TEST(Reordered, ExchangesAxesAndAddsNewOnes) {
  const float data[] = {0, 1, 2, 3, 4, 5};
  const TensorView view{data, ElementType::kF32, {2, 3}, RowMajorStrides({2, 3})};
  const Tensor<double> values = ValuesOf(Reordered(view, {1, kNewAxis, 0}));
  EXPECT_EQ(values.shape, (Shape{3, 1, 2}));
  EXPECT_EQ(values.data, (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace sextant
