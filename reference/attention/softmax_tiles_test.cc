// Online softmax, as implementations really take it, stays within what Tiling::kAny permits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/attention/softmax_row.h"
#include "reference/case/random_test.h"

namespace sextant {
namespace {

struct Way {
  size_t tile;
  bool backwards, base2, sum_of_rounded;
  DType kept;
};
struct Result {
  double mean, lse;
};

float Exponential(const Way& way, float x) {
  // Correctly rounded; the recipe claims one ulp.
  return static_cast<float>(way.base2 ? std::exp2(static_cast<double>(x))
                                      : std::exp(static_cast<double>(x)));
}

// In f32, weights kept in `kept`, neither divided before the end.
Result Online(const Way& way, std::vector<float> scores, std::vector<float> values) {
  if (way.backwards) {
    std::ranges::reverse(scores);
    std::ranges::reverse(values);
  }
  if (way.base2) {
    for (float& s : scores) s *= static_cast<float>(M_LOG2E);
  }
  float m = -INFINITY, sum = 0, mean = 0;
  for (size_t first = 0; first < scores.size(); first += way.tile) {
    const size_t last = std::min(scores.size(), first + way.tile);
    const float largest =
        std::max(m, *std::max_element(scores.begin() + static_cast<ptrdiff_t>(first),
                                      scores.begin() + static_cast<ptrdiff_t>(last)));
    const float c = std::isinf(m) ? 0 : Exponential(way, m - largest);
    m = largest;
    sum *= c;
    mean *= c;
    for (size_t j = first; j < last; ++j) {
      const float exact = Exponential(way, scores[j] - m);
      const auto p = static_cast<float>(RoundTo(way.kept, exact));
      sum += way.sum_of_rounded ? p : exact;
      mean += p * values[j];
    }
  }
  const auto log = static_cast<float>(way.base2 ? std::log2(static_cast<double>(sum))
                                                : std::log(static_cast<double>(sum)));
  return {mean / sum, way.base2 ? (m + log) * static_cast<float>(M_LN2) : m + log};
}

template <class Real>
std::vector<Real> Lift(const std::vector<float>& numbers) {
  std::vector<Real> lifted;
  for (const float x : numbers) lifted.emplace_back(x, DType::kF32);
  return lifted;
}

// The largest part of what is permitted that is needed for the mean and for lse.
struct Worst {
  double mean = 0, lse = 0;
};
void Check(const Way& way, const std::vector<float>& scores, const std::vector<float>& values,
           Worst& worst) {
  const std::string kept(NameOf(way.kept));
  const ScopedRecipe following(ParseRecipe("*=f32 weigh=" + kept, DType::kF32), DType::kF32);
  const SoftmaxRow<Interval> exact(Lift<Interval>(scores));
  const SoftmaxRow<Counted> counted(Lift<Counted>(scores), Tiling::kAny);
  const Result got = Online(way, scores, values);
  const Counted mean = counted.Mean(Lift<Counted>(values)), lse = counted.LogOfSum();
  const double mean_off = RadiusAround(exact.Mean(Lift<Interval>(values)), got.mean, 0);
  const double lse_off = RadiusAround(exact.LogOfSum(), got.lse, 0);
  ASSERT_LE(mean_off, mean.Permitted()) << "tile " << way.tile << " kept " << kept;
  if (way.sum_of_rounded && way.kept != DType::kF32) return;  // their logarithm is not covered
  ASSERT_LE(lse_off, lse.Permitted()) << "tile " << way.tile;
  ASSERT_LE(mean.Likely(), mean.Permitted());
  worst.mean = std::max(worst.mean, mean_off / mean.Permitted());
  worst.lse = std::max(worst.lse, lse_off / lse.Permitted());
}

enum class Order { kDrawn, kRising, kFalling };

Worst CheckMany(Order order) {
  Random random(7);
  Worst worst;
  for (int i = 0; i < 400; ++i) {
    const size_t n = 2 + random.Below(40);
    const double size = random.Of(std::vector<double>{0.1, 1, 8, 60});
    std::vector<float> scores(n), values(n);
    for (float& s : scores) s = static_cast<float>(random.In(-size, size));
    for (float& v : values) v = static_cast<float>(random.In(-1, 1));
    if (order != Order::kDrawn) std::ranges::sort(scores);
    if (order == Order::kFalling) std::ranges::reverse(scores);
    Way way{1 + random.Below(n), random.Below(2) == 1, random.Below(2) == 1, random.Below(2) == 1,
            random.Of(std::vector{DType::kF32, DType::kBF16, DType::kF16})};
    if (i % 3 == 0) way.tile = 1;
    Check(way, scores, values, worst);
  }
  return worst;
}

TEST(SoftmaxTiles, AnyOrderOfScoresIsCovered) {
  const Worst drawn = CheckMany(Order::kDrawn);
  CheckMany(Order::kRising);
  CheckMany(Order::kFalling);
  // And the bound is no empty one.
  EXPECT_GT(drawn.mean, 0.2);
  EXPECT_GT(drawn.lse, 0.03);
}

// Half an ulp of the weight 0.499 is 2^-10. What is kept is a multiple of it that another maximum
// so far gives: if that lies just above a power of two, half an ulp is 2^-8 of it. And where the
// sum is taken of what is kept, the other weight counts as well: 2^-8 of 0.5 |0 - y|.
TEST(SoftmaxTiles, RelativeToAnyMaximumAWeightRoundsByItsOwnUnit) {
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
