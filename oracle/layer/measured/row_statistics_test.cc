#include "oracle/layer/measured/row_statistics.h"

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

// What is said of y_j = (x_j - m) / d w_j + b_j, with these numbers of a row.
struct RowAnswer {
  std::function<double(const std::vector<double>&row)> mean, divisor;
  std::vector<std::string> If(const std::string& line) const {
    const MeasuredCase question(line);
    const std::vector<double>&x = question.In("x").data, &w = question.In("weight").data;
    const size_t M = w.size();
    const bool has_bias = question.inputs.size() > 2;
    return question.Causes([&](size_t i) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(i / M * M);
      const std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(M));
      return (x[i] - mean(row)) / divisor(row) * w[i % M] +
             (has_bias ? question.In("bias").data[i % M] : 0);
    });
  }
};

double Zero(const std::vector<double>&) { return 0; }
double Mean(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum / static_cast<double>(row.size());
}
double RootOfVariance(const std::vector<double>& row) {
  double squares = 0;
  for (const double x : row) squares += (x - Mean(row)) * (x - Mean(row));
  return std::sqrt(squares / static_cast<double>(row.size()) + 1e-5);
}

TEST(RowStatistics, NamesALastVectorThatOverlaps) {
  const auto overlaps = [](const std::vector<double>& row) {
    double squares = 0;  // 44 columns: the second vector of 32 begins at 12
    for (size_t j = 0; j < row.size(); ++j)
      squares += row[j] * row[j] * (j >= 12 && j < 32 ? 2 : 1);
    return std::sqrt(squares / static_cast<double>(row.size()) + 1e-5);
  };
  EXPECT_THAT((RowAnswer{Zero, overlaps}.If("rms_norm N=9 M=44 dtype=f32")),
              Contains(AllOf(StartsWith("divisor_of_rows: "),
                             HasSubstr("those twice that a last vector of 32 reads again"))));
}

TEST(RowStatistics, NamesOtherColumnsThatDivide) {
  const auto last_half = [](const std::vector<double>& row) {
    double squares = 0;
    for (size_t j = row.size() / 2; j < row.size(); ++j) squares += row[j] * row[j];
    return std::sqrt(2 * squares / static_cast<double>(row.size()) + 1e-5);
  };
  for (const char* dtype : {"f32", "f64"}) {
    EXPECT_THAT(RowAnswer({Zero, last_half}).If("rms_norm N=12 M=40 dtype=" + std::string(dtype)),
                ElementsAre(StartsWith("divisor_of_rows: each row is divided by the root of the "
                                       "mean square of the last half of the columns, expected ")))
        << dtype;
  }
}

TEST(RowStatistics, NamesALaneThatIsForgotten) {
  const auto without = [](const std::vector<double>& row) {
    double squares = 0;
    for (size_t j = 0; j < row.size(); ++j)
      if (j % 4 != 3) squares += row[j] * row[j];
    return std::sqrt(squares / static_cast<double>(row.size()) + 1e-5);
  };
  EXPECT_THAT(RowAnswer({Zero, without}).If("rms_norm N=12 M=40 dtype=f32"),
              ElementsAre(HasSubstr("the root of the mean square of all columns but 3, 7, 11 ... "
                                    "(their sum divided by the number of all columns)")));
}

TEST(RowStatistics, NamesTwiceTheMean) {
  const auto twice = [](const std::vector<double>& row) { return 2 * Mean(row); };
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    EXPECT_THAT(
        RowAnswer({twice, RootOfVariance}).If("layer_norm N=12 M=40 dtype=" + std::string(dtype)),
        ElementsAre("mean_of_rows: twice the mean of all columns is subtracted from each row, "
                    "expected the mean of all columns"))
        << dtype;
  }
}

// A divisor that is no known number of the row; honest sums in bf16 do not differ so much.
TEST(RowStatistics, ListsDivisorsWithoutAName) {
  const auto other = [](const std::vector<double>& row) { return 1.5 + std::sin(7 * row[3]); };
  EXPECT_THAT(RowAnswer({Zero, other}).If("rms_norm N=12 M=16 dtype=f32"),
              ElementsAre(StartsWith("other_divisors: rows have other divisors, row ")));
  // 16 columns: sums in bf16 are off by at most 2^-4.
  const auto off_by = [](double part) {
    return [=](const std::vector<double>& row) {
      double squares = 0;
      for (const double x : row) squares += x * x;
      return std::sqrt(squares / 16 + 1e-5) * (1 + part * (row[3] < row[5] ? 1 : 0.9));
    };
  };
  EXPECT_THAT(RowAnswer({Zero, off_by(0x1p-5)}).If("rms_norm N=12 M=16 dtype=f32"), IsEmpty());
  EXPECT_THAT(RowAnswer({Zero, off_by(0x1p-3)}).If("rms_norm N=12 M=16 dtype=f32"),
              ElementsAre(StartsWith("other_divisors: ")));
}

// E[x^2] - mean^2, with sums of numbers of f32 in turn.
double OnePassRoot(const std::vector<double>& row) {
  float sum = 0, squares = 0;
  for (const double x : row) {
    const auto of_f32 = static_cast<float>(x);
    sum += of_f32;
    squares += of_f32 * of_f32;
  }
  const auto count = static_cast<float>(row.size());
  const float mean = sum / count, variance = squares / count - mean * mean;
  return std::sqrt(std::max(variance, 0.0f) + 1e-5);
}

TEST(RowStatistics, NamesAVarianceThatCancels) {
  for (const char* line : {"layer_norm N=24 M=40 @x=uniform(1000,1004)",
                           "layer_norm N=16 M=250 @x=uniform(-304,-300)"}) {
    EXPECT_THAT((RowAnswer{Mean, OnePassRoot}.If(line)),
                ElementsAre(StartsWith("variance_cancels: the variance is E[x^2] - mean^2 in f32, "
                                       "which cancels: it is a multiple of the ulp of mean^2 in "
                                       "every row; row ")));
  }
}

// Divisors of bf16 are as wrong, but no such multiples. A divisor of 2 in all rows is one by
// accident, and where means are nearly 0 every number is.
TEST(RowStatistics, FindsNoMultiplesInHonestRoundings) {
  const auto rounded = [](const std::vector<double>& row) {
    return 1 / RoundTo(DType::kBF16, 1 / RootOfVariance(row));
  };
  const auto powers = [](const std::vector<double>& row) { return row[3] < row[5] ? 2.0 : 1.0; };
  for (const char* line : {"layer_norm N=16 M=40 @x=uniform(1000,1004)",
                           "layer_norm N=16 M=40 eps=0 @x=uniform(1000,1006.9282)",
                           "layer_norm N=16 M=40 @x=uniform(-1,1)"}) {
    EXPECT_THAT((RowAnswer{Mean, rounded}.If(line)), Not(Contains(HasSubstr("variance_cancels"))));
    EXPECT_THAT((RowAnswer{Mean, powers}.If(line)), Not(Contains(HasSubstr("variance_cancels"))));
  }
  std::string alternating = "layer_norm N=16 M=8 eps=0 @x=";  // +-a: means of 0
  for (size_t i = 0; i < 128; ++i)
    alternating += (i == 0 ? "" : ",") +
                   std::to_string((i % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(i / 8) / 8));
  EXPECT_THAT((RowAnswer{Mean, rounded}.If(alternating)),
              Not(Contains(HasSubstr("variance_cancels"))));
}

}  // namespace
}  // namespace sextant::oracle
