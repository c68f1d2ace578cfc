// Answers with one-sided errors: which means are too large for independent roundings?
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/judge/judge_test.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

// Errors alternate between 1/2 and -1/4: mean 1/8, root mean square sqrt(5/32).
TEST(JudgeBias, BiasAndSpreadAreRelativeToThePermittedError) {
  Ones ones(1, 4);
  for (size_t i = 0; i < 4; ++i) ones.Put(i, 1, kPermitted, 1 + kPermitted * (i % 2 ? -0.25 : 0.5));
  const TensorVerdict verdict = ones.JudgedTensor();
  EXPECT_EQ(verdict.bias, 0.125);
  EXPECT_EQ(verdict.spread, std::sqrt(5.0 / 32));
  EXPECT_EQ(verdict.bias_in_standard_errors, 0);  // one row: no variance over rows
}

// The error of element (r, c) is error(r, c) times the permitted error.
template <class Error>
Ones Erring(Error error, size_t rows = 64, size_t columns = 32) {
  Ones ones(rows, columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    const auto r = static_cast<double>(i / columns), c = static_cast<double>(i % columns);
    ones.Put(i, 1, 0x1p-10, 1 + 0x1p-10 * error(r, c));
  }
  return ones;
}

// Variance of the mean of the n numbers 0, 1 .. n - 1: n (n + 1) / 12 / n.
double VarianceOfMean(double n) { return (n + 1) / 12; }

// Errors between 1/2 and 1, distributed evenly over rows and columns.
TEST(JudgeBias, OneSidedErrorsAreUnlikely) {
  const Ones ones = Erring([](double r, double c) { return 0.5 + r / 256 + c / 128; });
  const double mean = 0.5 + 31.5 / 256 + 15.5 / 128;
  const double variance = VarianceOfMean(64) / (256 * 256) + VarianceOfMean(32) / (128 * 128);
  // Equal answers count once: 126 values with different frequencies, standard deviation below 1/8.
  EXPECT_LT(ones.JudgedTensor().bias_in_standard_errors, mean / std::sqrt(variance));
  EXPECT_GT(ones.JudgedTensor().bias_in_standard_errors,
            mean / std::sqrt(variance + 1.0 / 64 / 64));
  EXPECT_GT(ones.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(ones.Judged().grade, Grade::kUnlikely);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
}

TEST(JudgeBias, EightStandardErrorsAreTheBorder) {
  const auto with_mean = [](double mean) {
    return Erring([=](double r, double c) { return mean + (r - 31.5) / 256 + (c - 15.5) / 128; });
  };
  const double standard_error = 0.125 / with_mean(0.125).JudgedTensor().bias_in_standard_errors;
  EXPECT_EQ(with_mean(7.5 * standard_error).Judged().grade, Grade::kWithin);
  EXPECT_EQ(with_mean(8.5 * standard_error).Judged().grade, Grade::kUnlikely);
  EXPECT_EQ(with_mean(-8.5 * standard_error).Judged().grade, Grade::kUnlikely);
}

TEST(JudgeBias, ErrorsOfBothSignsAreLikely) {
  const Ones ones = Erring([](double r, double c) { return (r - 31.5) / 64 + (c - 15.5) / 64; });
  EXPECT_LT(std::abs(ones.JudgedTensor().bias_in_standard_errors), 1);
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
}

// Large errors in a few columns are caused by a few weights.
TEST(JudgeBias, ErrorsOfColumnsCountOncePerColumn) {
  const Ones ones = Erring([](double r, double c) { return c < 4 ? 0.5 : r / 65536 + c / 65536; });
  EXPECT_LT(ones.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
}

TEST(JudgeBias, ErrorsOfRowsCountOncePerRow) {
  const Ones ones = Erring([](double r, double c) { return r < 4 ? 0.5 : r / 65536 + c / 65536; });
  EXPECT_LT(ones.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
}

// Repeated rows carry no additional information.
TEST(JudgeBias, EqualRowsCountOnce) {
  const Ones ones =
      Erring([](double r, double c) { return 0.5 + (r < 32) / 64.0 + c / 128; }, 1024);
  EXPECT_EQ(ones.JudgedTensor().bias_in_standard_errors, 0);
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
}

// All elements that underflow have the same error, so repeated values carry no more information.
TEST(JudgeBias, EqualAnswersCountOnce) {
  const auto with_values = [](size_t answers) {
    return Erring([=](double r, double c) {
      const auto i = static_cast<size_t>(33 * r + c);
      return 0.5 + static_cast<double>(i % answers) / 4096;
    });
  };
  EXPECT_EQ(with_values(31).Judged().grade, Grade::kWithin);
  EXPECT_EQ(with_values(31).JudgedTensor().bias_in_standard_errors, 0);
  EXPECT_EQ(with_values(199).Judged().grade, Grade::kUnlikely);
}

// The errors of truncated answers are below one ulp and have the same sign.
TEST(JudgeBias, TruncationIsUnlikelyAlthoughBelowOneUlp) {
  Ones ones(64, 32);
  for (size_t i = 0; i < 64 * 32; ++i) {
    const double got = 1 + static_cast<double>(i) * 0x1p-23;
    ones.Put(i, got + 0x1p-23 * static_cast<double>((i * 2654435761u >> 16) % 65536) / 65536,
             0x1p-21, got);
  }
  EXPECT_LT(ones.JudgedTensor().bias_in_standard_errors, -8);
  EXPECT_EQ(ones.Judged().grade, Grade::kUnlikely);
}

// Fewer than 32 rows or columns are too few, however many elements they have.
TEST(JudgeBias, FewRowsOrColumnsAreNeverUnlikely) {
  const auto one_sided = [](double r, double c) { return 0.5 + r / 4096 + c / 4096; };
  EXPECT_EQ(Erring(one_sided, 31, 1024).Judged().grade, Grade::kWithin);
  EXPECT_EQ(Erring(one_sided, 1024, 31).Judged().grade, Grade::kWithin);
  EXPECT_EQ(Erring(one_sided, 32, 32).Judged().grade, Grade::kUnlikely);
}

// All frequencies may depend on one rounded power, so their errors are not independent.
TEST(JudgeBias, ErrorsOfFrequenciesAreNeverUnlikely) {
  Ones ones = Erring([](double r, double c) { return 0.5 + r / 4096 + c / 4096; });
  EXPECT_EQ(ones.Judged().grade, Grade::kUnlikely);
  ones.c = Case::Parse("sinusoidal S=64 M=32 dtype=f32");
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
  EXPECT_GT(ones.JudgedTensor().bias, 0.5);
}

}  // namespace
}  // namespace sextant::oracle
