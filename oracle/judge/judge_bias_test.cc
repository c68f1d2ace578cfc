// Answers that are off to one side: too much for independent roundings, or not.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/judge/judge_test.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

// Errors of 1/2 and -1/4 in turn: mean 1/8, root mean square sqrt(5/32).
TEST(JudgeBias, BiasAndSpreadAreInUnitsOfThePermitted) {
  Ones at(1, 4);
  for (size_t i = 0; i < 4; ++i) at.Put(i, 1, kPermitted, 1 + kPermitted * (i % 2 ? -0.25 : 0.5));
  const TensorVerdict verdict = at.JudgedTensor();
  EXPECT_EQ(verdict.bias, 0.125);
  EXPECT_EQ(verdict.spread, std::sqrt(5.0 / 32));
  EXPECT_EQ(verdict.bias_in_standard_errors, 0);  // one row says nothing of rows
}

// Element (r, c) of 64 times 32 errs by error(r, c) of what is permitted.
template <class Error>
Ones Erring(Error error, size_t rows = 64, size_t columns = 32) {
  Ones at(rows, columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    const auto r = static_cast<double>(i / columns), c = static_cast<double>(i % columns);
    at.Put(i, 1, 0x1p-10, 1 + 0x1p-10 * error(r, c));
  }
  return at;
}

// Variance of the mean of n numbers 0, 1 .. n - 1: n (n + 1) / 12 / n.
double VarianceOfMean(double n) { return (n + 1) / 12; }

// Errors between 1/2 and 1, spread evenly over rows and columns.
TEST(JudgeBias, OneSidedErrorsAreUnlikely) {
  const Ones at = Erring([](double r, double c) { return 0.5 + r / 256 + c / 128; });
  const double mean = 0.5 + 31.5 / 256 + 15.5 / 128;
  const double variance = VarianceOfMean(64) / (256 * 256) + VarianceOfMean(32) / (128 * 128);
  // Equal answers count once; there are 126, some oftener than others, spread less than 1/8 about.
  EXPECT_LT(at.JudgedTensor().bias_in_standard_errors, mean / std::sqrt(variance));
  EXPECT_GT(at.JudgedTensor().bias_in_standard_errors, mean / std::sqrt(variance + 1.0 / 64 / 64));
  EXPECT_GT(at.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(at.Judged().grade, Grade::kUnlikely);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

TEST(JudgeBias, EightStandardErrorsAreTheBorder) {
  const auto at = [](double mean) {
    return Erring([=](double r, double c) { return mean + (r - 31.5) / 256 + (c - 15.5) / 128; });
  };
  const double standard_error = 0.125 / at(0.125).JudgedTensor().bias_in_standard_errors;
  EXPECT_EQ(at(7.5 * standard_error).Judged().grade, Grade::kWithin);
  EXPECT_EQ(at(8.5 * standard_error).Judged().grade, Grade::kUnlikely);
  EXPECT_EQ(at(-8.5 * standard_error).Judged().grade, Grade::kUnlikely);
}

TEST(JudgeBias, ErrorsToBothSidesAreLikely) {
  const Ones at = Erring([](double r, double c) { return (r - 31.5) / 64 + (c - 15.5) / 64; });
  EXPECT_LT(std::abs(at.JudgedTensor().bias_in_standard_errors), 1);
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
}

// A few large errors of columns are the errors of a few weights.
TEST(JudgeBias, ErrorsOfColumnsCountOncePerColumn) {
  const Ones at = Erring([](double r, double c) { return c < 4 ? 0.5 : r / 65536 + c / 65536; });
  EXPECT_LT(at.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
}

TEST(JudgeBias, ErrorsOfRowsCountOncePerRow) {
  const Ones at = Erring([](double r, double c) { return r < 4 ? 0.5 : r / 65536 + c / 65536; });
  EXPECT_LT(at.JudgedTensor().bias_in_standard_errors, 8);
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
}

// The same row over and over says no more than once.
TEST(JudgeBias, EqualRowsCountOnce) {
  const Ones at = Erring([](double r, double c) { return 0.5 + (r < 32) / 64.0 + c / 128; }, 1024);
  EXPECT_EQ(at.JudgedTensor().bias_in_standard_errors, 0);
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
}

// What underflows goes the same way everywhere: a few answers say nothing, however often they come.
TEST(JudgeBias, EqualAnswersCountOnce) {
  const auto at = [](size_t answers) {
    return Erring([=](double r, double c) {
      const auto i = static_cast<size_t>(33 * r + c);
      return 0.5 + static_cast<double>(i % answers) / 4096;
    });
  };
  EXPECT_EQ(at(31).Judged().grade, Grade::kWithin);
  EXPECT_EQ(at(31).JudgedTensor().bias_in_standard_errors, 0);
  EXPECT_EQ(at(199).Judged().grade, Grade::kUnlikely);
}

// Truncated answers are less than one ulp off, all to the same side.
TEST(JudgeBias, TruncationIsUnlikelyHoweverSmall) {
  Ones at(64, 32);
  for (size_t i = 0; i < 64 * 32; ++i) {
    const double got = 1 + static_cast<double>(i) * 0x1p-23;
    at.Put(i, got + 0x1p-23 * static_cast<double>((i * 2654435761u >> 16) % 65536) / 65536, 0x1p-21,
           got);
  }
  EXPECT_LT(at.JudgedTensor().bias_in_standard_errors, -8);
  EXPECT_EQ(at.Judged().grade, Grade::kUnlikely);
}

// Fewer than 32 rows or columns say nothing, however many elements they have.
TEST(JudgeBias, AFewUnitsAreNeverUnlikely) {
  const auto one_sided = [](double r, double c) { return 0.5 + r / 4096 + c / 4096; };
  EXPECT_EQ(Erring(one_sided, 31, 1024).Judged().grade, Grade::kWithin);
  EXPECT_EQ(Erring(one_sided, 1024, 31).Judged().grade, Grade::kWithin);
  EXPECT_EQ(Erring(one_sided, 32, 32).Judged().grade, Grade::kUnlikely);
}

// One rounded power may stand behind all frequencies, so nothing there is independent.
TEST(JudgeBias, ErrorsOfFrequenciesAreNeverUnlikely) {
  Ones at = Erring([](double r, double c) { return 0.5 + r / 4096 + c / 4096; });
  EXPECT_EQ(at.Judged().grade, Grade::kUnlikely);
  at.c = Case::Parse("sinusoidal S=64 M=32 dtype=f32");
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
  EXPECT_GT(at.JudgedTensor().bias, 0.5);
}

}  // namespace
}  // namespace sextant::oracle
