// Random chains of operations: the errors of an implementation of a recipe stay within the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// One number in three types: its exact value, the permitted error, and an implementation.
struct Three {
  Interval exact;
  Counted counted;
  Rounded rounded;
};

Three Lift(double x, DType dtype) {
  return {Interval(x, dtype), Counted(x, dtype), Rounded(x, dtype)};
}

template <class F>
Three Each(const Three& a, const Three& b, F f) {
  return {f(a.exact, b.exact), f(a.counted, b.counted), f(a.rounded, b.rounded)};
}

template <class Real>
Real Positive(const Real& x) {
  return x * x;
}

constexpr int kOperations = 11;

// Operation number `which`. The operands of functions are mapped into their domain.
Three Apply(int which, const Three& a, const Three& b) {
  switch (which) {
    case 0:
      return Each(a, b, [](auto& x, auto& y) { return x + y; });
    case 1:
      return Each(a, b, [](auto& x, auto& y) { return x - y; });
    case 2:
      return Each(a, b, [](auto& x, auto& y) { return x * y; });
    case 3:
      return Each(a, b, [](auto& x, auto& y) { return x / y; });
    case 4:
      return Each(a, b, [](auto& x, auto&) { return Sqrt(Positive(x)); });
    case 5:
      return Each(a, b, [](auto& x, auto&) { return Exp(x); });
    case 6:
      return Each(a, b, [](auto& x, auto&) { return Log(Positive(x)); });
    case 7:
      return Each(a, b, [](auto& x, auto&) { return CosSin(x).first; });
    case 8:
      return Each(a, b, [](auto& x, auto&) { return CosSin(x).second; });
    case 9:
      return Each(a, b, [](auto& x, auto& y) { return Power(Positive(x), y); });
    default:
      return Each(a, b, [](auto& x, auto& y) { return SumOf(std::vector{x, y, x, -y, x * y}); });
  }
}

// Lower bound of the distance of high + low from the exact number.
double Distance(const Interval& x, double high, double low) {
  const double width = RadiusAround(x - x, 0, 0);
  return std::max(0.0, RadiusAround(x, high, low) * (1 - 0x1p-50) - width);
}

// The error of the computed number divided by the permitted error; NaN if the number is not
// specified or the permitted error is infinite.
double Ratio(const Three& y) {
  if (!y.exact.IsSpecified()) return NAN;
  const double permitted = y.counted.Permitted();
  if (permitted == INFINITY) return NAN;
  const double error = Distance(y.exact, y.rounded.value(), 0);
  return error == 0 ? 0 : error / permitted;
}

bool CenterIsWithinDrift(const Three& y) {
  const DoubleDouble center = y.counted.center();
  if (!y.exact.IsSpecified() || !std::isfinite(center.high)) return true;
  return Distance(y.exact, center.high, center.low) <= y.counted.drift() * (1 + 0x1p-30);
}

// A random value of the type, of any size and sometimes a special one.
double Operand(DType dtype, Random& random) {
  switch (random.Below(12)) {
    case 0:
      return static_cast<double>(random.Below(9)) - 4;
    case 1:
      return std::ldexp(1.0, static_cast<int>(random.Below(9)) - 4);
    case 2:
      return RoundTo(dtype, MinSubnormal(dtype) * static_cast<double>(random.Below(100)));
    case 3:
      return RoundTo(dtype, MaxFinite(dtype) / (1 + static_cast<double>(random.Below(9))));
    default:
      return RoundTo(dtype, random.Number(random.Below(3) ? 2 : 12));
  }
}

// Runs chains of random operations, each in a random step of the recipe. The operands have the
// errors of the operations before.
struct Survey {
  size_t judged = 0;
  double worst = 0;
};
Survey RunChains(const std::string& recipe, DType dtype, size_t count, uint64_t seed) {
  const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
  Random random(seed);
  std::array<Three, 6> pool;
  Survey survey;
  for (size_t i = 0; i < count; ++i) {
    for (Three& three : pool) {
      if (i == 0 || random.Below(4) == 0) three = Lift(Operand(dtype, random), dtype);
    }
    const ScopedStep at(static_cast<Step>(random.Below(kStepNames.size())));
    // Enclosures of functions are ten times as slow: functions are a fifth of the chain.
    const int which =
        static_cast<int>(random.Below(5) ? random.Below(5) : random.Below(kOperations));
    const Three a = random.OneOf(pool), b = random.OneOf(pool);
    Three y;
    try {
      y = Apply(which, a, b);
    } catch (const Undecided&) {
      continue;
    }
    const double ratio = Ratio(y);
    const bool centered = CenterIsWithinDrift(y);
    EXPECT_FALSE(ratio > 1 || !centered)
        << "operation " << which << " of " << a.rounded.value() << " +- " << a.counted.error()
        << " and " << b.rounded.value() << " +- " << b.counted.error() << " gives "
        << y.rounded.value() << ": " << ratio << " of permitted, centre " << y.counted.center().high
        << (centered ? "" : " off");
    if (testing::Test::HasFailure()) return survey;
    survey.judged += !std::isnan(ratio);
    if (ratio > survey.worst) survey.worst = ratio;
    const double size = std::abs(y.rounded.value());
    if (!std::isnan(ratio) && size < 1e6 && size > 1e-6) pool[random.Below(pool.size())] = y;
  }
  return survey;
}

TEST(Counted, BoundsTheErrorsOfChainsOfOperations) {
  for (const DType dtype : kTensorTypes) RunChains("*=T", dtype, 1500, 1);
  RunChains("*=f32 exponent=bf16 frequency=f16 angle=f64 table=bf16 sum=f32:pairwise", DType::kBF16,
            4000, 2);
}

// Most of a million operations can be judged, and the bounds are tight enough to detect a mutation.
TEST(SlowCounted, BoundsTheErrorsOfAMillionOperations) {
  uint64_t seed = 3;
  size_t judged = 0;
  for (const DType dtype : kFloatTypes) {
    for (const char* recipe :
         {"*=T", "*=f32 exponent=bf16 frequency=f16 angle=f64 table=bf16 sum=f32:pairwise",
          "*=f64 angle=f32 trig=f32 rotate=T weigh=T",
          "*=f16 sum=f64 rsqrt=bf16 rotate=f32 sum=f16:sequential"}) {
      const Survey survey = RunChains(recipe, dtype, 65000, ++seed);
      EXPECT_GT(survey.worst, 0.9) << recipe;
      judged += survey.judged;
    }
  }
  EXPECT_GT(judged, 700000u);
}

}  // namespace
}  // namespace sextant
