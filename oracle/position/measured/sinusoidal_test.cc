#include "oracle/position/measured/sinusoidal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

// Tensor2tensor's encoding in plain loops, its frequency index and its positions changed.
std::vector<std::string> ExplainedEncoding(const std::string& dtype, double index, double most) {
  const DrawnCase question(
      "sinusoidal S=24 M=64 layout=concatenated denominator=tensor2tensor "
      "@position=0..20,500,1500,2500" +
      dtype);
  Tensor<double> y({24, 64});
  for (size_t i = 0; i < y.data.size(); ++i) {
    const long double p = std::min(question.inputs[0].values.data[i / 64], most);
    const auto k = static_cast<long double>(i % 32) + index;
    const long double a = p * std::pow(10000.0L, -k / 31);
    y.data[i] =
        RoundTo(question.c.dtype(), static_cast<double>(i % 64 < 32 ? std::sin(a) : std::cos(a)));
  }
  return Explained(question, {{"y", question.c.dtype(), y}});
}

TEST(MeasuredSinusoidal, NamesPositionsAndFrequenciesTogether) {
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(ExplainedEncoding(dtype, 2, 999),
                Contains(HasSubstr("frequency_exponent+position_clamped (frequencies are "
                                   "base^-((2k + 4)/62), expected base^-(2k/62)")))
        << dtype;
    EXPECT_THAT(ExplainedEncoding(dtype, 0, 1e9), testing::IsEmpty()) << dtype;
  }
}

}  // namespace
}  // namespace sextant::oracle
