#include "reference/layer/dequantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsNan;

using Numbers = std::vector<double>;

std::vector<GoldenTensor> GoldenOf(const std::string& line, const Shape& shape,
                                   const Numbers& codes, const Numbers& scale) {
  const Case c = Case::Parse(line);
  const Tensors inputs = {{"codes", DType::kF8E4M3FN, Tensor<double>(shape, codes)},
                          {"scale", DType::kF32, Tensor<double>({shape[0], shape[2]}, scale)}};
  return Prove({c, inputs, ParseRecipe("native", c.dtype())});
}

// codes[n,a,g,m]: two groups in each of two rows, which share their scales.
TEST(Dequantize, ABlockHasItsScale) {
  const auto y =
      GoldenOf("dequantize N=1 A=2 G=2 M=2", {1, 2, 2, 2}, {1, 2, 3, 4, -5, 6, 7, 0.25}, {0.5, 3});
  EXPECT_THAT(y[0].value.data, ElementsAre(0.5, 1, 9, 12, -2.5, 3, 21, 0.75));
}

// 1.125 times 1 + 2^-7 is 1.1337890625, between the bf16 1.1328125 and 1.140625.
TEST(Dequantize, RoundsOnce) {
  const auto y =
      GoldenOf("dequantize N=1 A=1 G=1 M=1 dtype=bf16", {1, 1, 1, 1}, {1.125}, {1.0078125});
  EXPECT_EQ(y[0].value.data[0], 1.1328125);
  EXPECT_EQ(y[0].high.data[0], 1.1337890625);
}

// The smallest scale of e8m0 is a subnormal f32; -128 is a code, though quantize gives none.
TEST(Dequantize, OfIntegersAnd4BitsAndPowersOfTwo) {
  const auto y = [](const std::string& words, DType codes, DType scale, double c, double s) {
    const Case c1 = Case::Parse("dequantize N=1 A=1 G=1 M=1 " + words);
    const Tensors inputs = {{"codes", codes, Tensor<double>({1, 1, 1, 1}, {c})},
                            {"scale", scale, Tensor<double>({1, 1}, {s})}};
    return Prove({c1, inputs, ParseRecipe("native", c1.dtype())})[0].value.data[0];
  };
  EXPECT_EQ(y("dtype.codes=i8", DType::kI8, DType::kF32, -128, 0.5), -64);
  EXPECT_EQ(y("dtype.codes=f4_e2m1 dtype.scale=e8m0", DType::kF4E2M1, DType::kE8M0, 1.5, 0x1p-127),
            0x1.8p-127);
  EXPECT_EQ(y("dtype.codes=i4 dtype.scale=f16", DType::kI4, DType::kF16, -8, 3), -24);
}

TEST(Dequantize, CodesCountFromTheZeroPointOfTheirBlock) {
  const Case c = Case::Parse("dequantize with=zero dtype.codes=i8 N=1 A=1 G=2 M=2 dtype=f16");
  const auto y = [&](const Numbers& zero) {
    const Tensors inputs = {{"codes", DType::kI8, Tensor<double>({1, 1, 2, 2}, {-128, 127, 3, 4})},
                            {"scale", DType::kF32, Tensor<double>({1, 2}, {1, 0.5})},
                            {"zero", DType::kI64, Tensor<double>({1, 2}, zero)}};
    return Prove({c, inputs, ParseRecipe("native", DType::kF16)})[0].value.data;
  };
  EXPECT_THAT(y({127, -8}), ElementsAre(-255, 0, 5.5, 6));
  EXPECT_EQ(MessageOf([&] { y({0, 256}); }), "zero[0,1] is 256, expected -256 to 255");
}

TEST(Dequantize, OnlyIntegersHaveAZeroPoint) {
  EXPECT_EQ(MessageOf([] { Case::Parse("dequantize with=zero N=1 A=1 G=1 M=1"); }),
            "with=zero, expected dtype.codes=i8 or dtype.codes=i4");
}

// 1.5 * 0.875 * 0.4 by a code of e2m1, a scale of e4m3fn, and one of the tensor in f32.
TEST(Dequantize, HasAScaleOfTheTensor) {
  const Case c = Case::Parse(
      "dequantize with=tensor_scale dtype.codes=f4_e2m1 dtype.scale=f8_e4m3fn N=1 A=1 G=1 M=1");
  const double of_tensor = static_cast<float>(0.4);
  const Tensors inputs = {{"codes", DType::kF4E2M1, Tensor<double>({1, 1, 1, 1}, {-1.5})},
                          {"scale", DType::kF8E4M3FN, Tensor<double>({1, 1}, {0.875})},
                          {"tensor_scale", DType::kF32, Tensor<double>({1}, {of_tensor})}};
  const auto y = Prove({c, inputs, ParseRecipe("native", c.dtype())});
  EXPECT_EQ(y[0].high.data[0], -1.5 * 0.875 * of_tensor);
}

// 113 * 1.267... has 31 bits; its product with 3 alone is exact.
TEST(Dequantize, PermitsItsThreeFactorsInAnyOrder) {
  const Case c = Case::Parse("dequantize with=tensor_scale dtype.codes=i8 N=1 A=1 G=1 M=1");
  const float code = 113, scale = 1.267230749130249F, of_tensor = 3;
  const Tensors inputs = {{"codes", DType::kI8, Tensor<double>({1, 1, 1, 1}, {code})},
                          {"scale", DType::kF32, Tensor<double>({1, 1}, {scale})},
                          {"tensor_scale", DType::kF32, Tensor<double>({1}, {of_tensor})}};
  const auto y = Prove({c, inputs, ParseRecipe("native", c.dtype())})[0];
  for (const float answer :
       {code * scale * of_tensor, code * of_tensor * scale, code * (scale * of_tensor)})
    EXPECT_LE(std::abs(answer - y.high.data[0]), y.permitted.data[0]);
}

TEST(Dequantize, NansAreUnspecified) {
  const auto y = GoldenOf("dequantize N=1 A=1 G=2 M=1", {1, 1, 2, 1}, {kNaN, 2}, {1, 2});
  EXPECT_THAT(y[0].value.data, ElementsAre(IsNan(), 4));
}

TEST(Dequantize, RefusesOtherTypes) {
  EXPECT_EQ(MessageOf([] { Case::Parse("dequantize N=1 A=1 G=1 M=1 dtype.codes=f16"); }),
            "dequantize: dtype.codes: 'f16' is not one of: f8_e4m3fn f8_e5m2 f8_e4m3fnuz "
            "f8_e5m2fnuz f4_e2m1 i8 i4");
}

}  // namespace
}  // namespace sextant
