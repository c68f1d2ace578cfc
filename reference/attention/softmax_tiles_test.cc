// The errors of online softmax implementations are within the bounds of Tiling::kAny.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/attention/softmax_row.h"
#include "reference/case/random_test.h"

namespace sextant {
namespace {

struct Variant {
  size_t tile;  // keys per tile
  bool backwards, base2;
  bool sum_of_rounded;  // the sum is computed from the stored weights
  DType stored;         // format of the stored weights
};
struct Result {
  double mean, lse;
};

float Exponential(const Variant& variant, float x) {
  // Correctly rounded; the recipe permits one ulp.
  return static_cast<float>(variant.base2 ? std::exp2(static_cast<double>(x))
                                          : std::exp(static_cast<double>(x)));
}

// Online softmax in f32; the mean is divided by the sum at the end. `sink`: the running maximum
// before the first score.
Result OnlineSoftmax(const Variant& variant, std::vector<float> scores, std::vector<float> values,
                     float sink = -INFINITY) {
  if (variant.backwards) {
    std::ranges::reverse(scores);
    std::ranges::reverse(values);
  }
  if (variant.base2) {
    for (float& s : scores) s *= static_cast<float>(M_LOG2E);
    sink *= static_cast<float>(M_LOG2E);
  }
  float m = sink, sum = 0, mean = 0;
  for (size_t first = 0; first < scores.size(); first += variant.tile) {
    const size_t last = std::min(scores.size(), first + variant.tile);
    const float largest =
        std::max(m, *std::max_element(scores.begin() + static_cast<ptrdiff_t>(first),
                                      scores.begin() + static_cast<ptrdiff_t>(last)));
    const float c = std::isinf(m) ? 0 : Exponential(variant, m - largest);
    m = largest;
    sum *= c;
    mean *= c;
    for (size_t j = first; j < last; ++j) {
      const float exact = Exponential(variant, scores[j] - m);
      const auto p = static_cast<float>(RoundTo(variant.stored, exact));
      sum += variant.sum_of_rounded ? p : exact;
      mean += p * values[j];
    }
  }
  const auto log = static_cast<float>(variant.base2 ? std::log2(static_cast<double>(sum))
                                                    : std::log(static_cast<double>(sum)));
  return {mean / sum, variant.base2 ? (m + log) * static_cast<float>(M_LN2) : m + log};
}

template <class Real>
std::vector<Real> NumbersOf(const std::vector<float>& numbers) {
  std::vector<Real> all;
  for (const float x : numbers) all.emplace_back(x, DType::kF32);
  return all;
}

// The largest error / permitted error of the mean and of lse.
struct ErrorRatios {
  double mean = 0, lse = 0;
};
void Check(const Variant& variant, const std::vector<float>& scores,
           const std::vector<float>& values, ErrorRatios& worst) {
  const std::string stored(NameOf(variant.stored));
  const ScopedRecipe following(ParseRecipe("*=f32 weigh=" + stored, DType::kF32), DType::kF32);
  const SoftmaxRow<Interval> exact(NumbersOf<Interval>(scores));
  const SoftmaxRow<Counted> counted(NumbersOf<Counted>(scores), Tiling::kAny);
  const Result got = OnlineSoftmax(variant, scores, values);
  const Counted mean = counted.Mean(NumbersOf<Counted>(values)), lse = counted.LogSumExp();
  const double mean_error = RadiusAround(exact.Mean(NumbersOf<Interval>(values)), got.mean, 0);
  const double lse_error = RadiusAround(exact.LogSumExp(), got.lse, 0);
  ASSERT_LE(mean_error, mean.Permitted()) << "tile " << variant.tile << " stored " << stored;
  // The bound of lse does not cover sums of rounded weights.
  if (variant.sum_of_rounded && variant.stored != DType::kF32) return;
  ASSERT_LE(lse_error, lse.Permitted()) << "tile " << variant.tile;
  ASSERT_LE(mean.Likely(), mean.Permitted());
  worst.mean = std::max(worst.mean, mean_error / mean.Permitted());
  worst.lse = std::max(worst.lse, lse_error / lse.Permitted());
}

enum class Order { kRandom, kAscending, kDescending };

ErrorRatios CheckMany(Order order) {
  Random random(7);
  ErrorRatios worst;
  for (int i = 0; i < 400; ++i) {
    const size_t n = 2 + random.Below(40);
    const double size = random.OneOf(std::vector<double>{0.1, 1, 8, 60});
    std::vector<float> scores(n), values(n);
    for (float& s : scores) s = static_cast<float>(random.Uniform(-size, size));
    for (float& v : values) v = static_cast<float>(random.Uniform(-1, 1));
    if (order != Order::kRandom) std::ranges::sort(scores);
    if (order == Order::kDescending) std::ranges::reverse(scores);
    Variant variant{1 + random.Below(n), random.Below(2) == 1, random.Below(2) == 1,
                    random.Below(2) == 1,
                    random.OneOf(std::vector{DType::kF32, DType::kBF16, DType::kF16})};
    if (i % 3 == 0) variant.tile = 1;
    Check(variant, scores, values, worst);
  }
  return worst;
}

TEST(SoftmaxTiles, BoundsCoverAnyOrderOfScores) {
  const ErrorRatios drawn = CheckMany(Order::kRandom);
  CheckMany(Order::kAscending);
  CheckMany(Order::kDescending);
  // The bounds are not much larger than the errors.
  EXPECT_GT(drawn.mean, 0.2);
  EXPECT_GT(drawn.lse, 0.03);
}

// The largest error / permitted error of lse if the maximum includes a sink of up to `most`.
double CheckSinks(size_t scores_at_most, float most) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  Random random(11);
  double worst = 0;
  for (int i = 0; i < 400; ++i) {
    const size_t n = 1 + random.Below(scores_at_most);
    std::vector<float> scores(n);
    for (float& s : scores) s = i % 4 == 0 ? 0 : static_cast<float>(random.Uniform(-8, 8));
    const auto sink = static_cast<float>(random.Uniform(-8, most));
    const Variant variant{1 + random.Below(n), random.Below(2) == 1, random.Below(2) == 1, false,
                          DType::kF32};
    const Counted counted_sink(sink, DType::kF32);
    const Counted lse =
        SoftmaxRow<Counted>(NumbersOf<Counted>(scores), Tiling::kAny).LogSumExp(&counted_sink);
    const Interval exact = SoftmaxRow<Interval>(NumbersOf<Interval>(scores)).LogSumExp();
    const Result got = OnlineSoftmax(variant, scores, std::vector<float>(n), sink);
    const double error = RadiusAround(exact, got.lse, 0);
    EXPECT_LE(error, lse.Permitted()) << n << " scores, sink " << sink;
    worst = std::max(worst, error / lse.Permitted());
  }
  return worst;
}

TEST(SoftmaxTiles, LogarithmsMayBeRelativeToASink) {
  EXPECT_GT(CheckSinks(20, 60), 0.1);
  EXPECT_GT(CheckSinks(1, 60), 0.1);
  EXPECT_GT(CheckSinks(3, 85), 0.05);
}

// In bf16 half an ulp of the weight 0.499 is 2^-10. With tiling, the stored weight is a multiple of
// 0.499 that depends on the running maximum: just above a power of two, half an ulp is 2^-8 of it.
// If the sum is computed from the stored weights, the other weight contributes too: 2^-8 of
// 0.5 |0 - y|.
TEST(SoftmaxTiles, TilingPermitsOneUnitRoundoffOfAStoredWeight) {
  const std::vector<double> scores = {0, -0.0038, -40};
  std::vector<Counted> counted;
  for (const double s : scores) counted.emplace_back(s, DType::kF64);
  const ScopedRecipe following(ParseRecipe("*=f64 weigh=bf16", DType::kF64), DType::kF64);
  const std::vector<Counted> values = {Counted(0.0), Counted(1.0), Counted(0.0)};
  const double whole = SoftmaxRow<Counted>(counted).Mean(values).Permitted();
  const double tiled = SoftmaxRow<Counted>(counted, Tiling::kAny).Mean(values).Permitted();
  EXPECT_NEAR(whole, 0x1p-10, 0x1p-16);  // half an ulp of 0.499
  EXPECT_NEAR(tiled, 0x1p-8 * (0.5 + 0.25), 0x1p-8 * 0.01);
}

}  // namespace
}  // namespace sextant
