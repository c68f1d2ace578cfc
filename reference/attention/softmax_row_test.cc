#include "reference/attention/softmax_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/case/random_test.h"

namespace sextant {
namespace {

template <class Real>
std::vector<Real> RealsOf(const std::vector<double>& numbers, DType dtype = DType::kF32) {
  std::vector<Real> all;
  for (const double x : numbers) all.emplace_back(x, dtype);
  return all;
}

// The weights of one row in three number types.
struct WeightsByType {
  std::vector<Interval> exact;
  std::vector<Counted> counted;
  std::vector<Rounded> rounded;
};
WeightsByType WeightsOf(const std::vector<double>& scores, DType dtype) {
  return {SoftmaxRow<Interval>(RealsOf<Interval>(scores, dtype)).weights(),
          SoftmaxRow<Counted>(RealsOf<Counted>(scores, dtype)).weights(),
          SoftmaxRow<Rounded>(RealsOf<Rounded>(scores, dtype)).weights()};
}

// e^0 / (e^0 + e^ln 3) = 1/4, up to 2^-54 for the nearest double to ln 3.
TEST(SoftmaxRow, TwoScoresGiveALogisticFunction) {
  const std::vector<double> scores = {0, std::log(3)};
  const SoftmaxRow<Interval> row(RealsOf<Interval>(scores));
  EXPECT_NEAR(Middle(row.weights()[0]), 0.25, 0x1p-53);
  EXPECT_NEAR(Middle(row.weights()[1]), 0.75, 0x1p-53);
  EXPECT_NEAR(Middle(row.Mean(RealsOf<Interval>({4, 8}))), 7, 0x1p-50);
}

TEST(SoftmaxRow, EqualScoresGiveExactWeights) {
  const SoftmaxRow<Interval> row(RealsOf<Interval>({7, 7, 7, 7}));
  for (const Interval& weight : row.weights()) {
    EXPECT_TRUE(weight.IsPoint());
    EXPECT_EQ(Middle(weight), 0.25);
  }
}

// A single score has weight 1, also where its Interval is not a point.
TEST(SoftmaxRow, OneScoreHasWeightOne) {
  const Interval irrational = Sqrt(Interval(2.0));
  ASSERT_FALSE(irrational.IsPoint());
  const SoftmaxRow<Interval> row(std::vector{irrational});
  EXPECT_TRUE(row.weights()[0].IsOne());
  EXPECT_TRUE(row.Mean(RealsOf<Interval>({0.1})).IsPoint());
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  const SoftmaxRow<Counted> counted(RealsOf<Counted>({0.1}, DType::kF64));
  EXPECT_EQ(counted.weights()[0].Permitted(), 0);
  EXPECT_EQ(counted.Mean(RealsOf<Counted>({0.5})).Permitted(), 0);
}

TEST(SoftmaxRow, LargeScoresDoNotOverflow) {
  const SoftmaxRow<Interval> row(RealsOf<Interval>({1e6, 1e6 - 1, -1e6}, DType::kF64));
  EXPECT_NEAR(Middle(row.weights()[0]), 1 / (1 + std::exp(-1)), 0x1p-53);
  EXPECT_EQ(Middle(row.weights()[2]), 0);
  EXPECT_FALSE(SoftmaxRow<Interval>(RealsOf<Interval>({1, NAN})).weights()[0].IsSpecified());
}

// The largest error of Rounded / permitted error. Expects that no error exceeds the permitted one.
double LargestErrorRatio(const std::vector<Interval>& exact, const std::vector<Counted>& counted,
                         const std::vector<Rounded>& rounded) {
  double worst = 0;
  for (size_t j = 0; j < exact.size(); ++j) {
    const double error = RadiusAround(exact[j], rounded[j].value(), 0);
    const double permitted = counted[j].Permitted();
    EXPECT_LE(error, permitted * (1 + 0x1p-40) + 0x1p-1074) << "weight " << j;
    if (permitted > 0 && std::isfinite(permitted)) worst = std::max(worst, error / permitted);
    EXPECT_LE(RadiusAround(exact[j], counted[j].center().high, counted[j].center().low),
              counted[j].drift() * (1 + 0x1p-30) + 0x1p-1070);
  }
  return worst;
}

std::vector<double> RandomRow(Random& random, size_t n, double size, DType dtype) {
  std::vector<double> row(n);
  for (double& x : row) x = RoundTo(dtype, random.Uniform(-size, size));
  return row;
}

TEST(SoftmaxRow, BoundsTheErrorsOfRounded) {
  Random random(1);
  double worst = 0;
  for (const DType dtype : kFloatTypes) {
    for (const char* recipe :
         {"native", "all_native", "f32_compute", "*=T softmax=f64 dot=T",
          "*=f32 softmax=f32:pairwise weigh=bf16", "*=f32 softmax=bf16 dot=tf32",
          "*=f32 dot=tf32_truncated", "native weigh=f8_e4m3fn", "*=f32 weigh=f8_e5m2"}) {
      const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
      for (int i = 0; i < 40; ++i) {
        const size_t n = 1 + random.Below(i % 4 == 0 ? 90 : 7);
        const auto scores =
            RandomRow(random, n, random.OneOf(std::vector<double>{0, 1, 8, 200}), dtype);
        const WeightsByType w = WeightsOf(scores, dtype);
        worst = std::max(worst, LargestErrorRatio(w.exact, w.counted, w.rounded));
        const auto values = RandomRow(random, n, 3, dtype);
        const ScopedStep at(Step::kDot);
        LargestErrorRatio(
            {SoftmaxRow<Interval>(RealsOf<Interval>(scores)).Mean(RealsOf<Interval>(values))},
            {SoftmaxRow<Counted>(RealsOf<Counted>(scores, dtype))
                 .Mean(RealsOf<Counted>(values, dtype))},
            {SoftmaxRow<Rounded>(RealsOf<Rounded>(scores)).Mean(RealsOf<Rounded>(values))});
        ASSERT_FALSE(HasFailure()) << recipe << " " << NameOf(dtype) << " " << i;
      }
    }
  }
  EXPECT_GT(worst, 0.3);
}

// e^-7 is smaller than half of 2^-9, the least code of e4m3fn: a kernel may store it as 0. This is
// no larger where the largest weight is small: it is stored in units of that one.
TEST(SoftmaxRow, WeightsOf8BitsUnderflowInUnitsOfTheLargest) {
  const ScopedRecipe following(ParseRecipe("*=f32 weigh=f8_e4m3fn", DType::kF32), DType::kF32);
  const auto permitted = [](const std::vector<double>& scores, const std::vector<double>& values) {
    const SoftmaxRow<Counted> row(RealsOf<Counted>(scores), Tiling::kAny);
    return row.Mean(RealsOf<Counted>(values)).Permitted();
  };
  const std::vector<double> scores = {0, -7}, values = {0, 1};
  const SoftmaxRow<Rounded> row(RealsOf<Rounded>(scores));
  EXPECT_EQ(row.Mean(RealsOf<Rounded>(values)).value(), 0);
  EXPECT_GT(permitted(scores, values), std::exp(-7));
  EXPECT_LT(permitted(scores, values), 1.2 * (std::exp(-7) / 16 + 0x1p-10));
  std::vector<double> many(65, 0.0), one(65, 0.0);
  many[64] = -7;
  one[64] = 1;
  EXPECT_LT(permitted(many, one), 1.2 * (std::exp(-7) / 16 + 0x1p-10) / 64);
}

// Scores whose errors come from a conversion to bf16.
std::vector<Counted> Inexact(const std::vector<double>& scores) {
  const ScopedRecipe rounding(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  std::vector<Counted> counted;
  for (const double x : scores) counted.push_back(Converted(Counted(x)));
  return counted;
}

std::vector<double> DoubleWeights(const std::vector<double>& scores) {
  double sum = 0;
  std::vector<double> w;
  for (const double x : scores) sum += w.emplace_back(std::exp(x));
  for (double& x : w) x /= sum;
  return w;
}

// The mean minus 100: the weights sum to 1. Avoids cancellation for values near 100.
double MeanMinus100(const std::vector<double>& w, const std::vector<double>& values) {
  double sum = 0;
  for (size_t j = 0; j < w.size(); ++j) sum += w[j] * (values[j] - 100);
  return sum;
}

// The largest change of weight j where score j changes by its error, and all other scores by their
// errors with the opposite sign.
double LargestWeightChange(const std::vector<double>& scores, const std::vector<Counted>& counted,
                           size_t j) {
  const double exact = DoubleWeights(scores)[j];
  double largest = 0;
  for (const int sign : {1, -1}) {
    std::vector<double> changed = scores;
    for (size_t k = 0; k < changed.size(); ++k)
      changed[k] += (k == j ? sign : -sign) * counted[k].error();
    largest = std::max(largest, std::abs(DoubleWeights(changed)[j] - exact));
  }
  return largest;
}

// The largest change of the mean where each score changes by plus or minus its error.
double LargestMeanChange(const std::vector<double>& scores, const std::vector<Counted>& counted,
                         const std::vector<double>& values) {
  const double exact = MeanMinus100(DoubleWeights(scores), values);
  double largest = 0;
  for (size_t signs = 0; signs < size_t{1} << scores.size(); ++signs) {
    std::vector<double> changed = scores;
    for (size_t k = 0; k < changed.size(); ++k)
      changed[k] += (signs >> k & 1 ? 1 : -1) * counted[k].error();
    largest = std::max(largest, std::abs(MeanMinus100(DoubleWeights(changed), values) - exact));
  }
  return largest;
}

// The largest errors of the scores reach the bound of the result and do not exceed it.
TEST(SoftmaxRow, BoundsForInexactScoresAreTight) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const size_t n = 2 + random.Below(5);
    std::vector<double> scores(n), values(n);
    for (double& x : scores) x = random.Uniform(-5, 5);
    for (double& x : values) x = 100 + random.Uniform(-1, 1);
    const auto counted = Inexact(scores);
    const ScopedRecipe exact(ParseRecipe("exact", DType::kF64), DType::kF64);
    const SoftmaxRow<Counted> row(counted);
    for (size_t j = 0; j < n; ++j) {
      const double reached = LargestWeightChange(scores, counted, j);
      EXPECT_LE(reached, row.weights()[j].Permitted() * (1 + 1e-9));
      EXPECT_GE(reached * (1 + 1e-6) + 1e-12, row.weights()[j].Permitted());
    }
    const Counted mean = row.Mean(RealsOf<Counted>(values, DType::kF64));
    const double reached = LargestMeanChange(scores, counted, values);
    EXPECT_LE(reached, mean.Permitted() * (1 + 1e-9) + 1e-12);
    EXPECT_GE(reached * 1.1, mean.Permitted() * (1 - 0.1));
  }
}

// Errors of the scores do not change the mean of equal values.
TEST(SoftmaxRow, MeanOfEqualValuesDoesNotDependOnScores) {
  const auto counted = Inexact({0.1, 3.3, -20.7});
  const ScopedRecipe exact(ParseRecipe("exact", DType::kF64), DType::kF64);
  const SoftmaxRow<Counted> row(counted);
  EXPECT_GT(row.weights()[0].Permitted(), 1e-4);
  EXPECT_LT(row.Mean(RealsOf<Counted>({1000, 1000, 1000})).Permitted(), 1e-10);
}

// With very large errors of the scores, the mean may be any number between the values: the range of
// the values is the only bound, and the mean is saturated.
TEST(SoftmaxRow, VeryInexactScoresSaturateTheMean) {
  const auto counted = Inexact({1e9 / 3, 1e9 / 7});
  const ScopedRecipe exact(ParseRecipe("exact", DType::kF64), DType::kF64);
  const SoftmaxRow<Counted> row(counted);
  const Counted mean = row.Mean(RealsOf<Counted>({1, 5}));
  EXPECT_TRUE(mean.saturated() || mean.Permitted() < 4);
  const auto equal = Inexact({1e9 / 3, 1e9 / 3});
  const Counted saturated = SoftmaxRow<Counted>(equal).Mean(RealsOf<Counted>({1, 5}));
  EXPECT_TRUE(saturated.saturated());
  EXPECT_NEAR(saturated.Permitted(), 4, 1e-8);
}

TEST(SoftmaxRow, OverflowingScoresPermitAnyWeight) {
  const ScopedRecipe following(ParseRecipe("*=T", DType::kF16), DType::kF16);
  const std::vector<Counted> scores = {Counted(1e6), Counted(1.0)};
  EXPECT_EQ(SoftmaxRow<Counted>(scores).weights()[0].Permitted(), INFINITY);
}

}  // namespace
}  // namespace sextant
