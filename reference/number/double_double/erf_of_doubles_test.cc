// Level 1 of erf and erfc, on every instruction set: their enclosures contain those of level 3, and
// are narrow.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/exact/interval.h"
#include "reference/number/lanes/counted_lanes.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

// Of every size, around the limits of the formulas (1/4, 2 pi, 24, 28), and with a low half.
std::vector<Counted> ErfArguments() {
  std::vector<Counted> numbers;
  for (const double limit : {0.25, 6.283185307179586, 24.0, 28.0}) {
    for (const double step : {-0x1p-40, -0x1p-52, 0.0, 0x1p-52, 0x1p-40})
      numbers.emplace_back(limit * (1 + step));
  }
  for (double x = 0x1p-60; x < 27; x *= 1.37) {
    numbers.push_back(Counted::Of({x, x * 0x1.7p-54}, 0x1p-110 * x, std::nullopt, false));
    numbers.emplace_back(-x);
  }
  return numbers;
}

// A bound of the distance of the exact function of the centre of a from the centre of y.
template <class F>
double DistanceOf(const Counted& a, const Counted& y, F f) {
  const ScopedPrecision precision(300);
  const Interval exact = f(Interval(a.center().high) + Interval(a.center().low));
  return RadiusAround(exact, y.center().high, y.center().low);
}

template <class OfLanes, class Exact>
void ExpectEnclosures(OfLanes of_lanes, Exact exact) {
  const Recipe recipe = ParseRecipe("exact", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const Scoped<&EvaluationContext::double_centers> level_1(true);
  const std::vector<Counted> all = ErfArguments();
  for (size_t first = 0; first < all.size(); first += kLaneCount) {
    const auto part = std::span(all).subspan(first, std::min(kLaneCount, all.size() - first));
    const CountedLanes y = of_lanes(CountedLanes(part));
    for (size_t i = 0; i < part.size(); ++i) {
      const double x = part[i].center().high, distance = DistanceOf(part[i], y[i], exact);
      EXPECT_LE(distance, y[i].drift()) << x;
      if (std::abs(y[i].center().high) <= 0x1p-900) continue;
      EXPECT_LE(y[i].drift(), std::abs(y[i].center().high) * 0x1p-44) << x;
    }
  }
}

TEST(ErfOfDoubles, ErfIsEnclosed) {
  OnEveryTarget([] {
    ExpectEnclosures([](const CountedLanes& x) { return Erf(x); },
                     [](const Interval& x) { return Erf(x); });
  });
}

TEST(ErfOfDoubles, ErfcIsEnclosed) {
  OnEveryTarget([] {
    ExpectEnclosures([](const CountedLanes& x) { return Erfc(x); },
                     [](const Interval& x) { return Erfc(x); });
  });
}

// The values that both functions have in common are kept for the next call, for each level.
TEST(ErfOfDoubles, LevelsDoNotUseTheValuesOfEachOther) {
  const Recipe recipe = ParseRecipe("exact", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const CountedLanes x(Counted(1.7));
  const double before = Erfc(x)[0].drift();
  {
    const Scoped<&EvaluationContext::double_centers> level_1(true);
    EXPECT_GT(Erfc(x)[0].drift(), 0x1p-60);
  }
  const Counted after = Erfc(x)[0];
  EXPECT_EQ(after.drift(), before);
  EXPECT_LE(DistanceOf(Counted(1.7), after, [](const Interval& a) { return Erfc(a); }), before);
}

}  // namespace
}  // namespace sextant
