#include "reference/number/tensor/stored_tensor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

TEST(StoredTensor, HasTheBitsOfItsType) {
  const Shape shape{2};
  const StoredTensor half({"x", DType::kF16, {shape, {1, -2}}});
  EXPECT_EQ(half.As<uint16_t>()[0], 0x3c00);
  EXPECT_EQ(half.As<uint16_t>()[1], 0xc000);
  const StoredTensor brain({"x", DType::kBF16, {shape, {1, -2}}});
  EXPECT_EQ(brain.As<uint16_t>()[0], 0x3f80);
  EXPECT_EQ(brain.As<uint16_t>()[1], 0xc000);
  EXPECT_EQ(StoredTensor({"x", DType::kF32, {shape, {1, 0.5}}}).As<float>()[1], 0.5f);
  EXPECT_EQ(StoredTensor({"x", DType::kI64, {shape, {1, -7}}}).As<int64_t>()[1], -7);
  const StoredTensor eight({"x", DType::kF8E4M3FN, {shape, {448, -1}}});
  EXPECT_EQ(eight.As<uint8_t>()[0], 0x7e);
  EXPECT_EQ(eight.As<uint8_t>()[1], 0xb8);
}

TEST(StoredTensor, KeepsTheValuesOfItsType) {
  for (const DType type : kDTypes) {
    std::vector<double> values;
    for (const double x :
         {0.0, 1.0, -3.0, 128.0, -0.0, MaxFinite(type), Lowest(type), kInfinity, kNaN})
      if (IsRepresentable(type, x)) values.push_back(type == DType::kI64 ? x + 0.0 : x);
    const NamedTensor tensor{"x", type, {{values.size()}, values}};
    StoredTensors stored;
    stored.emplace_back(tensor);
    EXPECT_TRUE(SameBits({tensor}, ValuesOf(ReadersOf(stored)))) << NameOf(type);
    EXPECT_TRUE(SameBits({tensor}, ValuesOf(ReadersOf(Tensors{tensor})))) << NameOf(type);
  }
}

TEST(StoredTensor, IsReadAndWrittenInParts) {
  for (const DType type : kDTypes) {
    StoredTensor stored("x", type, {5});
    stored.Write(0, std::vector<double>{1, 2, 1, 4, 1});
    stored.Write(1, std::vector<double>{4, 2});
    std::vector<double> part(3);
    TensorReader(stored).Read(2, part);
    EXPECT_EQ(part, (std::vector<double>{2, 4, 1})) << NameOf(type);
  }
}

}  // namespace
}  // namespace sextant
