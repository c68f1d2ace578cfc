#include "reference/layer/layer_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

// Mean 4, deviations -3 and 3, variance 9.
TEST(LayerNorm, SubtractsTheMeanAndDividesByTheDeviation) {
  EXPECT_THAT(DoublesOf("layer_norm N=1 M=2 eps=0 @x=1,7 @weight=1,1 @bias=0,0"),
              ElementsAre(-1, 1));
  EXPECT_THAT(DoublesOf("layer_norm N=1 M=2 eps=0 @x=1,7 @weight=5,10 @bias=0.5,-1"),
              ElementsAre(-4.5, 9));
}

// The variance is (9 + 9) / 2 = 9, not 18; with eps 9 + 7 = 16; y = -3 / 4.
TEST(LayerNorm, HasABiasedVarianceAndEpsInsideTheRoot) {
  EXPECT_THAT(DoublesOf("layer_norm N=1 M=2 eps=7 @x=1,7 @weight=1,1 @bias=0,0"),
              ElementsAre(-0.75, 0.75));
}

// Mean 1/5 and variance 4/25 have infinite binary fractions, y has a finite one. 2 (1 + 2^-8) is
// the midpoint of the bf16 numbers 2 and 2 + 2^-6: no precision decides its rounding unless y is
// exact.
TEST(LayerNorm, IsExactWhereTheMeanIsAPeriodicBinaryFraction) {
  const GoldenTensor y = ProofOf(
                             "layer_norm N=1 M=5 eps=0 dtype=bf16 @x=1,0,0,0,0 "
                             "@weight=0x1.01p0,1,1,1,1 @bias=0,0,0,0,0")
                             .golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(2.0078125, -0.5, -0.5, -0.5, -0.5));
  EXPECT_THAT(y.value.data, ElementsAre(2, -0.5, -0.5, -0.5, -0.5));
  EXPECT_THAT(y.radius.data, Each(0));
}

TEST(LayerNorm, EqualNumbersGiveTheBias) {
  const GoldenTensor y =
      ProofOf(
          "layer_norm N=1 M=3 @x=0x1.99999ap-4,0x1.99999ap-4,0x1.99999ap-4 @weight=1,2,3 "
          "@bias=0.25,-3,7")
          .golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(0.25, -3, 7));
  EXPECT_THAT(y.low.data, Each(0));
  EXPECT_THAT(y.radius.data, Each(0));
  EXPECT_THAT(DoublesOf("layer_norm N=1 M=2 eps=0 @x=3,3 @weight=1,1 @bias=1,1"),
              ElementsAre(testing::IsNan(), testing::IsNan()));
}

TEST(LayerNorm, RowsAreIndependent) {
  EXPECT_THAT(DoublesOf("layer_norm N=3 M=2 eps=0 @x=1,7,3,5,-2,2 @weight=1,1 @bias=0,0"),
              ElementsAre(-1, 1, -1, 1, -1, 1));
}

// The largest permitted error in a row of the given width and mean, standard deviation about 1.
double LargestPermitted(size_t width, double mean) {
  const std::string range =
      PrintValue(mean - std::sqrt(3.0)) + "," + PrintValue(mean + std::sqrt(3.0));
  const Proof proof = ProofOf("layer_norm N=1 M=" + std::to_string(width) + " @x=uniform(" + range +
                              ") @weight=uniform(1,1.0001) @bias=uniform(0,0.0001)");
  const std::vector<double>& permitted = proof.golden[0].permitted.data;
  return *std::max_element(permitted.begin(), permitted.end());
}

// |y| < 2. For a mean far from 0, the error of the mean, M u |mean|, counts once in the deviation
// and 2 mean_k(|x_k - mean|) |y| / 2 < 2 times in the variance. For a mean near 0, the error of the
// sums counts: M u |y| / 2.
TEST(LayerNorm, PermitsAFewTimesTheErrorOfTheMean) {
  constexpr double kUnit = 0x1p-24;
  for (const double M : {8., 64., 1024.}) {
    for (const double mean : {100., 1000.}) {
      const double of_mean = M * kUnit * mean;
      const double permitted = LargestPermitted(static_cast<size_t>(M), mean);
      EXPECT_GT(permitted, of_mean / 2) << M << " " << mean;
      EXPECT_LT(permitted, 4 * of_mean) << M << " " << mean;
    }
    EXPECT_LT(LargestPermitted(static_cast<size_t>(M), 0), 4 * (M + 4) * kUnit) << M;
  }
}

enum class Passes { kOne, kTwo };
// Row n of y in f32, with sums from left to right.
std::vector<float> InFloat(const Tensors& inputs, size_t n, Passes passes) {
  const Tensor<double>& all = inputs[0].values;
  std::vector<float> x;
  for (size_t k = 0; k < all.shape[1]; ++k) x.push_back(static_cast<float>(all(n, k)));
  const auto M = static_cast<float>(x.size());
  float sum = 0, squares = 0;
  for (const float v : x) sum += v;
  const float mean = sum / M;
  for (const float v : x) {
    const float centered = passes == Passes::kOne ? v : v - mean;
    squares += centered * centered;
  }
  float variance = squares / M;
  if (passes == Passes::kOne) variance = std::max(0.0f, variance - mean * mean);
  const float factor = 1 / std::sqrt(variance + 1e-5f);
  std::vector<float> y;
  for (size_t j = 0; j < x.size(); ++j) {
    const auto weight = static_cast<float>(inputs[1].values.data[j]);
    const auto bias = static_cast<float>(inputs[2].values.data[j]);
    y.push_back((x[j] - mean) * factor * weight + bias);
  }
  return y;
}

// The largest |error| / permitted error of the f32 implementation in 64 rows of standard
// deviation 1.
double LargestErrorRatio(size_t width, double mean, Passes passes) {
  const std::string range = PrintValue(mean - 1.75) + "," + PrintValue(mean + 1.75);
  const Proof proof =
      ProofOf("layer_norm N=64 M=" + std::to_string(width) + " @x=uniform(" + range + ")");
  const GoldenTensor& golden = proof.golden[0];
  double worst = 0;
  for (size_t n = 0; n < 64; ++n) {
    const std::vector<float> y = InFloat(proof.inputs, n, passes);
    for (size_t j = 0; j < width; ++j) {
      const double error = std::abs(y[j] - golden.high(n, j) - golden.low(n, j));
      worst = std::max(worst, error / golden.permitted(n, j));
    }
  }
  return worst;
}

// The error of a correct implementation with sums from left to right is a fifth of the permitted
// error in rows of 8, a tenth in rows of 64, a fiftieth in rows of 1024, for every mean: the bound
// of a sum is M u, its usual error is sqrt(M) u.
TEST(SlowLayerNorm, TwoPassesConformForEveryMean) {
  const std::pair<size_t, double> least_ratios[] = {{8, 0.15}, {64, 0.04}, {1024, 0.005}};
  for (const auto& [M, least] : least_ratios) {
    for (const double mean : {0., 1., 30., 1000., 5000.}) {
      const double ratio = LargestErrorRatio(M, mean, Passes::kTwo);
      EXPECT_LE(ratio, 1) << M << " " << mean;
      EXPECT_GE(ratio, least) << M << " " << mean;
    }
  }
}

// The error exceeds the permitted error where the mean is at least 10 (M = 8), 30 (M = 64) or 100
// (M = 1024) standard deviations.
TEST(SlowLayerNorm, OnePassConformsForSmallMeansOnly) {
  for (const size_t M : {8, 64, 1024}) {
    for (const double mean : {0., 1., 3.}) {
      EXPECT_LE(LargestErrorRatio(M, mean, Passes::kOne), 1) << M << " " << mean;
    }
    for (const double mean : {100., 1000., 5000.}) {
      EXPECT_GT(LargestErrorRatio(M, mean, Passes::kOne), 1) << M << " " << mean;
    }
  }
}

}  // namespace
}  // namespace sextant
