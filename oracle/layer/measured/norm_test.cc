#include "oracle/layer/measured/norm.h"

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

// A question about a norm, and plain loops for answers.
struct Rows : MeasuredCase {
  explicit Rows(const std::string& line)
      : MeasuredCase(line), x(In("x").data), w(In("weight").data), M(In("x").shape[1]) {}

  double Mean(size_t n) const {
    double sum = 0;
    for (size_t j = 0; j < M; ++j) sum += x[n * M + j];
    return sum / static_cast<double>(M);
  }
  double Squares(size_t n, double mean = 0, size_t columns = 0) const {
    double sum = 0;
    for (size_t j = 0; j < (columns ? columns : M); ++j)
      sum += (x[n * M + j] - mean) * (x[n * M + j] - mean);
    return sum;
  }
  std::vector<std::string> If(const std::function<double(size_t n, size_t j)>& y) const {
    return Causes([&](size_t i) { return y(i / M, i % M); });
  }

  const std::vector<double>&x, &w;
  size_t M;
};

struct MeasuredNorm : MeasuredInDType {};

TEST_P(MeasuredNorm, EpsInsideTheRoot) {
  const Rows rows(Line("rms_norm eps=1e-05 N=6 M=24 @x=normal(0.01)"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 24 + j] / std::sqrt(rows.Squares(n) / 24 + 3e-4) * rows.w[j];
  }),
              ElementsAre(AllOf(StartsWith("eps: eps is 0.0003"), HasSubstr("expected 1e-05"))));
}

TEST_P(MeasuredNorm, RowsShareTheirDivisor) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double squares = 0;
    for (size_t row = n / 4 * 4; row < n / 4 * 4 + 4; ++row) squares += rows.Squares(row);
    return rows.x[n * 40 + j] / std::sqrt(squares / 160 + 1e-5) * rows.w[j];
  }),
              Contains("divisor_of_row_groups: groups of 4 rows share the divisor"));
}

TEST_P(MeasuredNorm, FirstColumns) {
  const Rows rows(Line("rms_norm N=20 M=100"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 100 + j] / std::sqrt(rows.Squares(n, 0, 93) / 100 + 1e-5) * rows.w[j];
  }),
              ElementsAre("columns_lost: only the first 93 of 100 columns are summed, and the sum "
                          "is divided by 100"));
}

// Two deviations at once.
TEST_P(MeasuredNorm, WeightTwiceAndPaddedMean) {
  const Rows rows(Line("rms_norm N=9 M=50 @weight=uniform(0.25,2)"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 64 + 1e-5) * rows.w[j] * rows.w[j];
  }),
              Contains(AllOf(StartsWith("mean_over_padding+weight_applied_twice: "),
                             HasSubstr("divided by 64, the width of whole vectors, expected 50"))));
}

TEST_P(MeasuredNorm, WeightInSomeColumnsAndSharedRows) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double root = std::sqrt(rows.Squares(n / 4 * 4) / 40 + 1e-5);
    return rows.x[n * 40 + j] / root * (j < 20 ? rows.w[j] : 1);
  }),
              Contains(AllOf(StartsWith("divisor_of_row_groups+weight_constant_in_part: "),
                             HasSubstr("weight is 1 at the columns 20 to 39 of 40"))));
}

TEST_P(MeasuredNorm, LargestMagnitudeForTheRootAndWeightOfTheRow) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double largest = 0;
    for (size_t k = 0; k < 40; ++k) largest = std::max(largest, std::abs(rows.x[n * 40 + k]));
    return rows.x[n * 40 + j] / largest * rows.w[(j + n) % 40];
  }),
              Contains(AllOf(StartsWith("largest_for_root+weight_of_row: "),
                             HasSubstr("row n reads the weight from column n on"))));
}

TEST(MeasuredNorm, WeightAndBiasOfOtherColumns) {
  const Rows rows("layer_norm N=12 M=40 dtype=f32");
  const auto& b = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n), sigma = std::sqrt(rows.Squares(n, mean) / 40 + 1e-5);
    return (rows.x[n * 40 + j] - mean) / sigma * rows.w[j < 32 ? j : j - 32] + b[j / 4 * 4];
  }),
              Contains(AllOf(StartsWith("weight_repeated+bias_of_group: "),
                             HasSubstr("the first 32 again and again"))));
}

TEST_P(MeasuredNorm, PreviousRow) {
  const Rows rows(Line("layer_norm N=9 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const size_t from = n > 0 ? n - 1 : 0;
    const double mean = rows.Mean(from);
    return (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(from, mean) / 50 + 1e-5) *
               rows.w[j] +
           bias[j];
  }),
              ElementsAre("statistics_of_previous_row: every row has the mean and the divisor of "
                          "the previous one"));
}

TEST_P(MeasuredNorm, WeightOffset) {
  const Rows rows(Line("rms_norm N=12 M=50"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 50 + 1e-5) * (rows.w[j] + 0.5);
  }),
              ElementsAre(StartsWith("weight_offset: 0.5")));
}

// The mean is that of the row; the divisor is that of the first row of four.
TEST_P(MeasuredNorm, DivisorOfTheFirstOfFourRows) {
  const Rows rows(Line("layer_norm N=12 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double square = rows.Squares(n / 4 * 4, rows.Mean(n / 4 * 4)) / 50;
    return (rows.x[n * 50 + j] - rows.Mean(n)) / std::sqrt(square + 1e-5) * rows.w[j] + bias[j];
  }),
              ElementsAre("divisor_of_row_groups: groups of 4 rows share the divisor of their "
                          "first row"));
}

TEST_P(MeasuredNorm, BiasTwiceAndEps) {
  const Rows rows(Line("layer_norm N=9 M=50 eps=1e-05 @x=normal(0.03)"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n);
    return (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(n, mean) / 50 + 0.002) * rows.w[j] +
           2 * bias[j];
  }),
              ElementsAre(AllOf(StartsWith("eps+bias_added_twice: eps is 0.002"))));
}

// The residual is halved, and the root is missing.
TEST_P(MeasuredNorm, ResidualAndRoot) {
  const MeasuredCase question(Line("add_rms_norm N=9 M=50"));
  Tensors answer = question.CorrectAnswer();
  auto &y = answer[0].values.data, &sum = answer[1].values.data;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] =
        RoundTo(answer[1].dtype, question.In("x").data[i] + 0.5 * question.In("residual").data[i]);
  for (size_t n = 0; n < 9; ++n) {
    double squares = 0;
    for (size_t j = 0; j < 50; ++j) squares += sum[n * 50 + j] * sum[n * 50 + j];
    for (size_t j = 0; j < 50; ++j)
      y[n * 50 + j] = RoundTo(
          answer[0].dtype, sum[n * 50 + j] / (squares / 50 + 1e-5) * question.In("weight").data[j]);
  }
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("residual_multiplied+root_missing: "),
                                HasSubstr("the sum is x + 0.5"))));
}

TEST_P(MeasuredNorm, XOverTheRootOfTheSum) {
  const MeasuredCase question(Line("add_rms_norm N=9 M=50"));
  Tensors answer = question.CorrectAnswer();
  const auto& sum = answer[1].values.data;
  for (size_t n = 0; n < 9; ++n) {
    double squares = 0;
    for (size_t j = 0; j < 50; ++j) squares += sum[n * 50 + j] * sum[n * 50 + j];
    for (size_t j = 0; j < 50; ++j)
      answer[0].values.data[n * 50 + j] = RoundTo(
          answer[0].dtype, question.In("x").data[n * 50 + j] / std::sqrt(squares / 50 + 1e-5) *
                               question.In("weight").data[j]);
  }
  EXPECT_THAT(
      question.Causes(answer),
      ElementsAre("norm_of_another_sum: y is (x) weight, divided by the root mean square of "
                  "(x + residual)"));
}

TEST_P(MeasuredNorm, NormOfXWithoutEps) {
  const MeasuredCase question(Line("add_rms_norm eps=0.1 N=9 M=50"));
  Tensors answer = question.CorrectAnswer();
  const auto& x = question.In("x").data;
  for (size_t n = 0; n < 9; ++n) {
    double squares = 0;
    for (size_t j = 0; j < 50; ++j) squares += x[n * 50 + j] * x[n * 50 + j];
    for (size_t j = 0; j < 50; ++j)
      answer[0].values.data[n * 50 + j] = RoundTo(
          answer[0].dtype, x[n * 50 + j] / std::sqrt(squares / 50) * question.In("weight").data[j]);
  }
  EXPECT_THAT(question.Causes(answer),
              Contains(StartsWith("norm_of_x+eps_missing: the norm reads x instead of the "
                                  "sum; eps is 0")));
}

TEST_P(MeasuredNorm, GroupsOfColumns) {
  const Rows rows(Line("rms_norm N=6 M=48"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double squares = 0;
    for (size_t k = j / 12 * 12; k < j / 12 * 12 + 12; ++k)
      squares += rows.x[n * 48 + k] * rows.x[n * 48 + k];
    return rows.x[n * 48 + j] / std::sqrt(squares / 12 + 1e-5) * rows.w[j];
  }),
              ElementsAre("groups_of_columns: each group of 12 of 48 columns has its own divisor"));
}

// The mean is that of the row. The bias is subtracted, too.
TEST_P(MeasuredNorm, GroupsOfColumnsAndBias) {
  const Rows rows(Line("layer_norm N=6 M=48"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double squares = 0;
    for (size_t k = j / 16 * 16; k < j / 16 * 16 + 16; ++k)
      squares += std::pow(rows.x[n * 48 + k] - rows.Mean(n), 2);
    return (rows.x[n * 48 + j] - rows.Mean(n)) / std::sqrt(squares / 16 + 1e-5) * rows.w[j] -
           bias[j];
  }),
              ElementsAre("groups_of_columns+bias_subtracted: each group of 16 of 48 columns has "
                          "its own divisor, and the mean of all columns; the bias is subtracted"));
}

TEST_P(MeasuredNorm, AnotherRoot) {
  const Rows rows(Line("rms_norm N=24 M=20"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 20 + j] / std::cbrt(rows.Squares(n) / 20 + 1e-5) * rows.w[j];
  }),
              ElementsAre("root_of_another_power: the mean square is raised to 1/3, expected 1/2"));
}

TEST_P(MeasuredNorm, NotDivided) {
  const Rows rows(Line("rms_norm N=24 M=20"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) { return rows.x[n * 20 + j] * rows.w[j]; }),
              ElementsAre("not_divided: x is not divided by anything"));
}

TEST_P(MeasuredNorm, WeightOfTheNextColumn) {
  const Rows rows(Line("rms_norm N=6 M=50"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 50 + 1e-5) * rows.w[(j + 1) % 50];
  }),
              ElementsAre("weight_rolled: the numbers of the weight are in another order: rolled "
                          "by 1 to the left"));
}

TEST_P(MeasuredNorm, OutputMultiplied) {
  const Rows rows(Line("layer_norm N=9 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n);
    const double z = (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(n, mean) / 50 + 1e-5);
    return 1.25 * (z * rows.w[j] + bias[j]);
  }),
              ElementsAre(StartsWith("output_multiplied: y is multiplied by 1.25")));
}

TEST_P(MeasuredNorm, CountAndWeightOffset) {
  const Rows rows(Line("rms_norm N=9 M=51"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 51 + j] / std::sqrt(rows.Squares(n) / 64 + 1e-5) * (rows.w[j] - 0.5);
  }),
              ElementsAre(AllOf(StartsWith("mean_over_padding+weight_offset: "),
                                HasSubstr("divided by 64"), HasSubstr("-0.5"))));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredNorm, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);

// ONNX Runtime's norms in f64 have an eps in f32: an error of 1e-13.
TEST(MeasuredNorm, EpsRoundedToF32) {
  for (const char* line : {"rms_norm N=6 M=64 dtype=f64", "layer_norm N=6 M=64 dtype=f64"}) {
    const MeasuredCase question(line);
    const Tensors answer = EvaluateByRecipe(
        {question.c.With("eps=9.9999997473787516e-06"), question.inputs, question.recipe});
    EXPECT_THAT(question.Causes(answer),
                ElementsAre("eps_rounded_to_f32: eps is 1e-05 rounded to f32, "
                            "9.999999747378752e-06, expected 1e-05"));
  }
}

TEST(MeasuredNorm, HonestRecipesAreNotAccused) {
  ExpectNoAccusation(
      {"rms_norm N=1 M=144", "rms_norm N=17 M=3", "layer_norm N=1 M=78", "layer_norm N=17 M=3",
       "rms_norm N=2 M=7", "rms_norm N=3 M=1", "layer_norm N=6 M=64", "add_rms_norm N=6 M=64"},
      {"native sum=bf16", "native square=f16 sum=f16", "native rsqrt=bf16", "native scale=bf16",
       "native weigh=bf16", "*=bf16", "f32_compute"});
}

}  // namespace
}  // namespace sextant::oracle
