#include "oracle/diagnosis/answer/rounded_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/diagnosis/answer/planted_tensor_test.h"

namespace sextant::oracle {
namespace {

// What is found in f(right number) of a tensor of f32, whose right numbers are between 0 and 1.
std::string RoundingFoundIn(
    const std::function<double(double right)>& f,
    const std::function<double(double x)>& right_of = [](double x) { return x; }) {
  PlantedTensor tensor{DType::kF32, 12, 8, 1e-7};
  for (size_t i = 0; i < 96; ++i) {
    const double right = right_of(std::abs(std::sin(static_cast<double>(i + 1))));
    tensor.Add(right, RoundTo(DType::kF32, f(right)));
  }
  const auto found = FindRounded(tensor.Answered());
  return found ? found->name + ": " + found->sentence : "";
}

TEST(FindRounded, NamesTheFormat) {
  EXPECT_EQ(RoundingFoundIn([](double x) { return RoundTo(DType::kBF16, x); }),
            "output_in_bf16: all numbers of y are rounded to bf16");
  EXPECT_EQ(RoundingFoundIn([](double x) { return RoundTo(DType::kF16, x); }),
            "output_in_f16: all numbers of y are rounded to f16");
}

TEST(FindRounded, NamesMultiplesAndNumbersThatAreCut) {
  EXPECT_EQ(RoundingFoundIn([](double x) { return std::nearbyint(x * 255) / 255; }),
            "output_quantized: all numbers of y are rounded to multiples of 1/255");
  EXPECT_EQ(RoundingFoundIn([](double x) { return std::floor(x * 256) / 256; }),
            "output_quantized: all numbers of y are cut toward 0 to multiples of 1/256");
}

TEST(FindRounded, SaysNothingOfOtherNumbers) {
  EXPECT_EQ(RoundingFoundIn([](double x) { return 1.01 * x; }), "");
  // Numbers in 11 bits, but half of them are missing.
  EXPECT_EQ(RoundingFoundIn([](double x) { return x < 0.5 ? 0 : RoundTo(DType::kF16, x); }), "");
  // The right numbers are multiples of 1/256 themselves.
  EXPECT_EQ(RoundingFoundIn([](double x) { return x + 1.0 / 256; },
                            [](double x) { return std::floor(x * 256) / 256; }),
            "");
}

}  // namespace
}  // namespace sextant::oracle
