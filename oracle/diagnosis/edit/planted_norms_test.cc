#include <cmath>

#include "oracle/diagnosis/edit/plan_search.h"
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

struct PlantedNorm : MeasuredInDType {};

TEST_P(PlantedNorm, EpsInsideTheRoot) {
  const Rows rows(Line("rms_norm eps=1e-05 N=6 M=24 @x=normal(0.01)"));
  EXPECT_THAT(
      rows.If([&](size_t n, size_t j) {
        return rows.x[n * 24 + j] / std::sqrt(rows.Squares(n) / 24 + 3e-4) * rows.w[j];
      }),
      ElementsAre(AllOf(StartsWith("eps_changed: eps is 0.0003"), HasSubstr("expected 1e-05"))));
}

TEST_P(PlantedNorm, RowsShareTheirDivisor) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double squares = 0;
    for (size_t row = n / 4 * 4; row < n / 4 * 4 + 4; ++row) squares += rows.Squares(row);
    return rows.x[n * 40 + j] / std::sqrt(squares / 160 + 1e-5) * rows.w[j];
  }),
              ElementsAre("sum_of_squares_of_rows: groups of 4 rows share the sum of squares"));
}

TEST_P(PlantedNorm, FirstColumns) {
  const Rows rows(Line("rms_norm N=20 M=100"));
  EXPECT_THAT(
      rows.If([&](size_t n, size_t j) {
        return rows.x[n * 100 + j] / std::sqrt(rows.Squares(n, 0, 93) / 100 + 1e-5) * rows.w[j];
      }),
      ElementsAre("sum_of_squares_cut: the sum of squares has only the first 93 columns of 100, "
                  "but it is divided by the number of all columns"));
}

// Two deviations at once.
TEST(PlantedNorms, WeightTwiceAndPaddedMean) {
  const Rows rows("rms_norm N=9 M=50 @weight=uniform(0.25,2) dtype=f32");
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 64 + 1e-5) * rows.w[j] * rows.w[j];
  }),
              ElementsAre(AllOf(HasSubstr("weight"), HasSubstr("is 64, expected 50"))));
}

TEST_P(PlantedNorm, WeightInSomeColumnsAndSharedRows) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double root = std::sqrt(rows.Squares(n / 4 * 4) / 40 + 1e-5);
    return rows.x[n * 40 + j] / root * (j < 20 ? rows.w[j] : 1);
  }),
              ElementsAre(AllOf(StartsWith("weight_constant_in_part+square_of_group: "),
                                HasSubstr("weight is 1 in all but the first 20 columns of 40"))));
}

TEST_P(PlantedNorm, LargestMagnitudeForTheRootAndRolledWeight) {
  const Rows rows(Line("rms_norm N=12 M=40"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double largest = 0;
    for (size_t k = 0; k < 40; ++k) largest = std::max(largest, std::abs(rows.x[n * 40 + k]));
    return rows.x[n * 40 + j] / largest * rows.w[(j + 1) % 40];
  }),
              ElementsAre(AllOf(HasSubstr("the largest magnitude of the square is used"),
                                HasSubstr("rolled by 1 to the left"))));
}

TEST(PlantedNorms, WeightAndBiasOfOtherColumns) {
  const Rows rows("layer_norm N=12 M=40 dtype=f32");
  const auto& b = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n), sigma = std::sqrt(rows.Squares(n, mean) / 40 + 1e-5);
    return (rows.x[n * 40 + j] - mean) / sigma * rows.w[j < 32 ? j : j - 32] + b[j / 4 * 4];
  }),
              ElementsAre(AllOf(StartsWith("bias_of_group+weight_repeated: "),
                                HasSubstr("the first 32 again and again"))));
}

TEST_P(PlantedNorm, MeanOfThePreviousRow) {
  const Rows rows(Line("layer_norm N=9 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n > 0 ? n - 1 : 0);
    return (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(n, mean) / 50 + 1e-5) * rows.w[j] +
           bias[j];
  }),
              ElementsAre(AllOf(HasSubstr("mean is that of other rows: each the one before, but "
                                          "the first"))));
}

TEST_P(PlantedNorm, WeightOffset) {
  const Rows rows(Line("rms_norm N=12 M=50"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 50 + 1e-5) * (rows.w[j] + 0.5);
  }),
              ElementsAre(StartsWith("weight_increased: 0.5 ")));
}

// The mean is that of the row; the divisor is that of the first row of four.
TEST_P(PlantedNorm, DivisorOfTheFirstOfFourRows) {
  const Rows rows(Line("layer_norm N=12 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double square = rows.Squares(n / 4 * 4, rows.Mean(n / 4 * 4)) / 50;
    return (rows.x[n * 50 + j] - rows.Mean(n)) / std::sqrt(square + 1e-5) * rows.w[j] + bias[j];
  }),
              ElementsAre(HasSubstr("that of other rows: the first of each 4 everywhere")));
}

TEST(PlantedNorms, BiasTwiceAndEps) {
  const Rows rows("layer_norm N=9 M=50 eps=1e-05 @x=normal(0.03) dtype=f32");
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n);
    return (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(n, mean) / 50 + 0.002) * rows.w[j] +
           2 * bias[j];
  }),
              ElementsAre(AllOf(HasSubstr("eps is 0.002"),
                                HasSubstr("bias is added to the weighed row twice"))));
}

// The answer to add_rms_norm N=9 M=50 in which y is `above`, over the root mean square of `under`.
Tensors WithNorm(const MeasuredCase& question, Tensors answer, const std::vector<double>& above,
                 const std::vector<double>& under, double eps) {
  for (size_t n = 0; n < 9; ++n) {
    double squares = 0;
    for (size_t j = 0; j < 50; ++j) squares += under[n * 50 + j] * under[n * 50 + j];
    for (size_t j = 0; j < 50; ++j)
      answer[0].values.data[n * 50 + j] =
          RoundTo(answer[0].dtype, above[n * 50 + j] / std::sqrt(squares / 50 + eps) *
                                       question.In("weight").data[j]);
  }
  return answer;
}

TEST_P(PlantedNorm, HalfOfTheResidual) {
  const MeasuredCase question(Line("add_rms_norm N=9 M=50"));
  Tensors answer = question.CorrectAnswer();
  auto& sum = answer[1].values.data;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] =
        RoundTo(answer[1].dtype, question.In("x").data[i] + 0.5 * question.In("residual").data[i]);
  EXPECT_THAT(question.Causes(WithNorm(question, answer, sum, sum, 1e-5)),
              ElementsAre("residual_multiplied: the residual is multiplied by 0.5"));
}

TEST_P(PlantedNorm, XOverTheRootOfTheSum) {
  const MeasuredCase question(Line("add_rms_norm N=9 M=50"));
  const Tensors right = question.CorrectAnswer();
  EXPECT_THAT(
      question.Causes(WithNorm(question, right, question.In("x").data, right[1].values.data, 1e-5)),
      ElementsAre("x_for_sum: x is used instead of the sum, for the normed row"));
}

TEST_P(PlantedNorm, NormOfXWithoutEps) {
  const MeasuredCase question(Line("add_rms_norm eps=0.1 N=9 M=50"));
  const auto& x = question.In("x").data;
  EXPECT_THAT(question.Causes(WithNorm(question, question.CorrectAnswer(), x, x, 0)),
              ElementsAre(AllOf(AnyOf(HasSubstr("x is used instead of the sum"),
                                      HasSubstr("the residual is not added to x, for y alone")),
                                HasSubstr("eps is not added"))));
}

TEST_P(PlantedNorm, GroupsOfColumns) {
  const Rows rows(Line("rms_norm N=6 M=48"));
  EXPECT_THAT(
      rows.If([&](size_t n, size_t j) {
        double squares = 0;
        for (size_t k = j / 12 * 12; k < j / 12 * 12 + 12; ++k)
          squares += rows.x[n * 48 + k] * rows.x[n * 48 + k];
        return rows.x[n * 48 + j] / std::sqrt(squares / 12 + 1e-5) * rows.w[j];
      }),
      ElementsAre("sum_of_squares_by_groups: the sum of squares is that of each group of 12 "
                  "columns of 48, and its mean is over these alone"));
}

// The mean is that of the row. The bias is subtracted, too.
TEST(PlantedNorms, GroupsOfColumnsAndBias) {
  const Rows rows("layer_norm N=6 M=48 dtype=f32");
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    double squares = 0;
    for (size_t k = j / 16 * 16; k < j / 16 * 16 + 16; ++k)
      squares += std::pow(rows.x[n * 48 + k] - rows.Mean(n), 2);
    return (rows.x[n * 48 + j] - rows.Mean(n)) / std::sqrt(squares / 16 + 1e-5) * rows.w[j] -
           bias[j];
  }),
              ElementsAre(AllOf(HasSubstr("bias is subtracted from the weighed row"),
                                HasSubstr("group of 16 columns of 48"))));
}

TEST_P(PlantedNorm, AnotherRoot) {
  const Rows rows(Line("rms_norm N=24 M=20"));
  EXPECT_THAT(
      rows.If([&](size_t n, size_t j) {
        return rows.x[n * 20 + j] / std::cbrt(rows.Squares(n) / 20 + 1e-5) * rows.w[j];
      }),
      ElementsAre("root_of_another_power: the radicand is raised to the power 1/3, expected "
                  "its square root"));
}

TEST_P(PlantedNorm, NotDivided) {
  const Rows rows(Line("rms_norm N=24 M=20"));
  EXPECT_THAT(rows.If([&](size_t n, size_t j) { return rows.x[n * 20 + j] * rows.w[j]; }),
              ElementsAre("root_not_divided: x is not divided by the root"));
}

TEST_P(PlantedNorm, WeightOfTheNextColumn) {
  const Rows rows(Line("rms_norm N=6 M=50"));
  EXPECT_THAT(
      rows.If([&](size_t n, size_t j) {
        return rows.x[n * 50 + j] / std::sqrt(rows.Squares(n) / 50 + 1e-5) * rows.w[(j + 1) % 50];
      }),
      ElementsAre("weight_rolled: the weight is that of other columns: rolled by 1 to the left"));
}

TEST_P(PlantedNorm, OutputMultiplied) {
  const Rows rows(Line("layer_norm N=9 M=50"));
  const auto& bias = rows.In("bias").data;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n);
    const double z = (rows.x[n * 50 + j] - mean) / std::sqrt(rows.Squares(n, mean) / 50 + 1e-5);
    return 1.25 * (z * rows.w[j] + bias[j]);
  }),
              ElementsAre(StartsWith("y_multiplied: y is multiplied by 1.25")));
}

TEST(PlantedNorms, CountAndWeightOffset) {
  const Rows rows("rms_norm N=9 M=51 dtype=f32");
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    return rows.x[n * 51 + j] / std::sqrt(rows.Squares(n) / 64 + 1e-5) * (rows.w[j] - 0.5);
  }),
              ElementsAre(AllOf(HasSubstr("the divisor of the mean square is 64, expected 51"),
                                HasSubstr("0.5"))));
}

INSTANTIATE_TEST_SUITE_P(DTypes, PlantedNorm, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);

// ONNX Runtime's norms in f64 have an eps in f32: an error of 1e-13.
TEST(PlantedNorms, EpsRoundedToF32) {
  for (const char* line : {"rms_norm N=6 M=64 dtype=f64", "layer_norm N=6 M=64 dtype=f64"}) {
    const MeasuredCase question(line);
    const Tensors answer = EvaluateByRecipe(
        {question.c.With("eps=9.9999997473787516e-06"), question.inputs, question.recipe});
    EXPECT_THAT(question.Causes(answer), ElementsAre("eps_rounded: eps is 1e-05 rounded to f32, "
                                                     "9.999999747378752e-06, expected 1e-05"));
  }
}

// Few columns and rows, and numbers that are none: the same is said again.
TEST(PlantedNorms, AnyAnswerIsRead) {
  for (const char* const line : {"rms_norm N=1 M=1", "rms_norm N=2 M=3 unit_offset=true",
                                 "layer_norm N=3 M=2", "add_rms_norm N=2 M=1", "softmax N=3 M=1"}) {
    for (const double number : {0.0, kNaN, kInfinity, -1e38, 1e-40}) {
      const MeasuredCase question(std::string(line) + " dtype=f32");
      const auto answer = [&](size_t i) { return i % 2 == 0 ? number : 1; };
      EXPECT_EQ(question.Causes(answer), question.Causes(answer)) << line << " " << number;
    }
  }
}

TEST(PlantedNorms, HonestRecipesAreNotAccused) {
  ExpectNoAccusation({"rms_norm N=1 M=144", "rms_norm N=17 M=3", "layer_norm N=1 M=78",
                      "layer_norm N=17 M=3", "rms_norm N=3 M=1", "add_rms_norm N=6 M=64"},
                     {"native sum=bf16", "native square=f16 sum=f16", "native rsqrt=bf16",
                      "native scale=bf16", "native weigh=bf16", "*=bf16", "f32_compute"});
}

}  // namespace
}  // namespace sextant::oracle
