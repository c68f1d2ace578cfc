#include "oracle/profile/element_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sextant::oracle {
namespace {

// 1 .. 200 with alternating signs: half of them are at most 100, 99 % at most 198; the sum is -100.
TEST(DistributionOf, CountsMagnitudesAndTheSignedMean) {
  std::vector<double> errors;
  for (int i = 1; i <= 200; ++i) errors.push_back(i % 2 ? i : -i);
  const Distribution of = DistributionOf(errors);
  EXPECT_EQ(of.median, 100);
  EXPECT_EQ(of.p99, 198);
  EXPECT_EQ(of.largest, 200);
  EXPECT_EQ(of.bias, -0.5);
  EXPECT_DOUBLE_EQ(of.rms, std::sqrt(200.0 * 201 * 401 / 6 / 200));
  EXPECT_EQ(DistributionOf({}).largest, 0);
}

TEST(ErrorsOf, HasUlpsOfTheOutputAndMarksWhatIsUnspecified) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto tensor = [](std::vector<double> data) {
    const size_t count = data.size();
    return Tensor<double>({count}, std::move(data));
  };
  // 3 has the ulp 2^-6 in bf16. The low part counts, too.
  const std::vector<GoldenTensor> golden = {{"y", DType::kBF16, tensor({3, 1, nan, 0}),
                                             tensor({3, 1, nan, 0}), tensor({0x1p-8, 0, nan, 0}),
                                             tensor({0, 0, nan, 0}), tensor({0, 0, 0, 0})}};
  const std::vector<PermittedTensor> permitted = {
      {"y", DType::kBF16, tensor({0x1p-5, 1, nan, 0}), tensor({0, 0, 0, 0}), {0, 1, 0, 0}}};
  const Tensors answer = {{"y", DType::kBF16, tensor({3 + 0x1p-6, 2, 5, 0})}};
  const auto samples = ErrorsOf(golden, permitted, answer).at(0).samples;
  EXPECT_EQ(In(ErrorUnit::kUlps, samples[0]), 0.75);
  EXPECT_EQ(In(ErrorUnit::kPermitted, samples[0]), 0.375);
  EXPECT_EQ(In(ErrorUnit::kAbsolute, samples[0]), 3 * 0x1p-8);
  EXPECT_EQ(In(ErrorUnit::kPermitted, samples[1]), 0);  // vacuous: any answer passes
  EXPECT_TRUE(std::isnan(samples[2].ulp));
  EXPECT_EQ(In(ErrorUnit::kPermitted, samples[3]), 0);
  EXPECT_EQ(In(ErrorUnit::kPermitted, {kInfinity, 1, kInfinity}), kInfinity);
}

}  // namespace
}  // namespace sextant::oracle
