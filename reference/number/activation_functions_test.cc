#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "reference/number/counted/counted.h"
#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/exact/boost_real.h"
#include "reference/number/exact/interval.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

struct Function {
  std::string name;
  DoubleDouble (*double_double)(const DoubleDouble&);
  Interval (*enclosed)(const Interval&);
  Counted (*counted)(const Counted&);
  Rounded (*rounded)(const Rounded&);
  BoostReal (*wide)(const BoostReal&);
  std::function<double(double)> units;  // the bound of double_double_functions.h
};

const std::vector<Function>& Functions() {
  static const std::vector<Function> kAll = {
      {"tanh", tanh, [](const Interval& x) { return Tanh(x); },
       [](const Counted& x) { return Tanh(x); }, [](const Rounded& x) { return Tanh(x); },
       [](const BoostReal& x) { return Tanh(x); }, [](double) { return 52.; }},
      {"sigmoid", sigmoid, [](const Interval& x) { return Sigmoid(x); },
       [](const Counted& x) { return Sigmoid(x); }, [](const Rounded& x) { return Sigmoid(x); },
       [](const BoostReal& x) { return Sigmoid(x); }, [](double) { return 32.; }},
      {"erf", erf, [](const Interval& x) { return Erf(x); },
       [](const Counted& x) { return Erf(x); }, [](const Rounded& x) { return Erf(x); },
       [](const BoostReal& x) { return Erf(x); }, [](double) { return 200.; }},
      {"erfc", erfc, [](const Interval& x) { return Erfc(x); },
       [](const Counted& x) { return Erfc(x); }, [](const Rounded& x) { return Erfc(x); },
       [](const BoostReal& x) { return Erfc(x); },
       [](double x) { return x >= 0.25 ? 70 + 5 * x * x : 50; }}};
  return kAll;
}

// Arguments of both signs, from tiny ones to `most`, where the functions have reached their limits.
std::vector<double> Arguments(double most, int steps) {
  std::vector<double> all = {0.25, 2, 1, 0.5, 40, 0x1p-30, 0x1p-200, 0.2499999, 1.9999999};
  for (int i = 1; i < steps; ++i) {
    const double t = i / static_cast<double>(steps) * (1 + 0x1.8p-40 * i);
    all.push_back(std::min(most, 8.) * t);
    all.push_back(most * t);
    all.push_back(std::ldexp(t, -i % 40));
  }
  const size_t count = all.size();
  for (size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  return all;
}

double RelativeErrorOf(const DoubleDouble& got, const Interval& exact) {
  const Interval error = Interval(got.high) + Interval(got.low) - exact;
  return std::abs(Middle(error / exact));
}

void ExpectDoubleDoublesWithinBounds(int steps) {
  const ScopedPrecision precision(400);
  for (const Function& f : Functions()) {
    // Low parts underflow for larger arguments.
    for (const double x : Arguments(f.name == "erfc" ? 24 : 600, steps)) {
      if (f.name == "erfc" && x > 24) continue;
      const DoubleDouble a = TwoSum(x, x * 0x1.5p-55);
      const DoubleDouble y = f.double_double(a);
      ASSERT_LE(RelativeErrorOf(y, f.enclosed(Interval(a.high) + Interval(a.low))) * 0x1p106,
                f.units(x))
          << f.name << " of " << x;
      ASSERT_EQ(y.high, y.high + y.low);
    }
  }
}

// Two libraries that share no code agree to about 2^-300. Compared are high and low, which is
// rounded to its unit.
TEST(ActivationFunctions, EnclosuresAgreeWithWide) {
  const ScopedPrecision precision(1200);  // |tanh x - x| < 2^-400 |x| for the smallest x
  for (const Function& f : Functions()) {
    for (const double x : Arguments(26, 10)) {
      const Interval y = f.enclosed(Interval(x));
      const auto decided = Decide(y, DType::kF64);
      ASSERT_TRUE(decided) << f.name << " of " << x;
      const double half = UnitOfLow(decided->high) / 2 * (1 + 0x1p-50);
      ASSERT_LE(f.wide(BoostReal(x)).Distance(decided->high, decided->low), half)
          << f.name << " of " << x;
    }
  }
}

TEST(ActivationFunctions, ReachTheirLimits) {
  const ScopedPrecision precision(192);
  const auto value = [](const Interval& y) {
    return std::pair(mpfr_get_d(y.lower().get(), MPFR_RNDN),
                     mpfr_get_d(y.upper().get(), MPFR_RNDN));
  };
  for (const double x : {800., 1e10, 1e300}) {
    EXPECT_EQ(value(Sigmoid(Interval(x))), std::pair(1., 1.));
    EXPECT_EQ(value(Sigmoid(Interval(-x))), std::pair(0., 0.));
    EXPECT_EQ(value(Tanh(Interval(-x))), std::pair(-1., -1.));
    EXPECT_EQ(value(Erf(Interval(x))), std::pair(1., 1.));
    EXPECT_EQ(value(Erfc(Interval(x))), std::pair(0., 0.));
    EXPECT_EQ(value(Erfc(Interval(-x))), std::pair(2., 2.));
  }
  EXPECT_TRUE(Sigmoid(Interval(0.)).IsPoint());
  EXPECT_FALSE(Tanh(Interval(INFINITY)).IsSpecified());
}

// Checks the error of one computed number against the bound of Counted.
void ExpectPermitted(const std::string& what, double x, double got, const Counted& counted,
                     const Interval& exact) {
  const double error = std::abs(Middle(Interval(got) - exact));
  ASSERT_LE(error, counted.Permitted()) << what << " of " << x << " is " << got;
}

template <class Float>
void ExpectImplementationsPermitted(DType dtype, int steps) {
  const Recipe recipe = ParseRecipe("*=T", dtype);
  const ScopedRecipe following(recipe, dtype);
  const ScopedStep at(Step::kActivation);
  const ScopedPrecision precision(192);
  for (const double argument : Arguments(dtype == DType::kF64 ? 800 : 120, steps)) {
    const auto x = static_cast<Float>(argument);
    const Counted a(x, dtype);
    const Interval exact(x);
    const Float e = std::exp(-x), grown = std::exp(x);
    ExpectPermitted("1/(1+e^-x)", x, 1 / (1 + e), Sigmoid(a), Sigmoid(exact));
    if (x < 0) ExpectPermitted("e^x/(1+e^x)", x, grown / (1 + grown), Sigmoid(a), Sigmoid(exact));
    ExpectPermitted("tanh", x, std::tanh(x), Tanh(a), Tanh(exact));
    const Float t = std::expm1(2 * std::abs(x));
    if (std::isfinite(t)) {
      ExpectPermitted("t/(t+2)", x, std::copysign(t / (t + 2), x), Tanh(a), Tanh(exact));
    }
    ExpectPermitted("erf", x, std::erf(x), Erf(a), Erf(exact));
    ExpectPermitted("erfc", x, std::erfc(x), Erfc(a), Erfc(exact));
    for (const Function& f : Functions()) {
      const Counted counted = f.counted(a);
      ExpectPermitted(f.name, x, f.rounded(Rounded(x)).value(), counted, f.enclosed(exact));
      // The bound is at most 6 ulps, or the whole value where an exponential overflows.
      const double size = std::abs(counted.center().high);
      const double lost = size * MaxFinite(dtype) < 1.25 ? size * (1 + 0x1p-39) : 0;
      const double most = 6 * UlpOf(dtype, size) + lost + 4 * kTinyDrift;
      ASSERT_LE(counted.Permitted(), most * (1 + 0x1p-29))  // the bound is rounded up by 2^-30
          << f.name << " of " << x;
    }
  }
}

TEST(ActivationFunctions, DoubleDoublesAreWithinTheirBounds) {
  ExpectDoubleDoublesWithinBounds(10);
}
TEST(ActivationFunctions, PermitTheUsualImplementations) {
  ExpectImplementationsPermitted<float>(DType::kF32, 10);
  ExpectImplementationsPermitted<double>(DType::kF64, 5);
}
TEST(SlowActivationFunctions, KeepTheirBoundsForManyArguments) {
  ExpectDoubleDoublesWithinBounds(1000);
  ExpectImplementationsPermitted<float>(DType::kF32, 2000);
  ExpectImplementationsPermitted<double>(DType::kF64, 500);
}

// An error of the argument changes the function by at most the permitted error.
TEST(ActivationFunctions, BoundsIncludeErrorsOfArguments) {
  const ScopedRecipe following(ParseRecipe("*=f16", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kActivation);
  const ScopedPrecision precision(192);
  for (const Function& f : Functions()) {
    for (const double x : Arguments(15, 20)) {
      const Counted a(x, DType::kF64);  // rounded to f16 on entry
      const double moved = RoundTo(DType::kF16, x);
      ExpectPermitted(f.name, x, f.rounded(Rounded(moved)).value(), f.counted(a),
                      f.enclosed(Interval(x)));
      const double exact = std::abs(Middle(f.enclosed(Interval(moved)) - f.enclosed(Interval(x))));
      ASSERT_LE(exact, f.counted(a).Permitted());
    }
  }
}

// s(500) = 1 - e^-500 and s(5000) = 1 - e^-5000: the low part of both is 0.
// The other functions have similar cases. The initial precision of a proof decides both, and also
// their products: s(5000) times the midpoint of two bf16 numbers lies below the midpoint.
TEST(ActivationFunctions, NumbersNearLimitsAreDecidedAtTheInitialPrecision) {
  const ScopedPrecision precision(184);
  const auto expect = [](const Interval& y, double high, double value) {
    const auto found = Decide(y, DType::kBF16);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->high, high);
    EXPECT_EQ(found->low, 0);
    EXPECT_EQ(found->value, value);
  };
  expect(Sigmoid(Interval(500)), 1, 1);
  expect(Sigmoid(Interval(5000)), 1, 1);
  expect(Tanh(Interval(-250)), -1, -1);
  expect(Erfc(Interval(-20)), 2, 2);
  const Interval middle(1 + 0x3p-8), near = Sigmoid(Interval(5000));
  expect(middle * Interval(1.0), 1 + 0x3p-8, 1 + 0x2p-7);
  expect(middle * near, 1 + 0x3p-8, 1 + 0x1p-7);
  expect(-middle * near, -1 - 0x3p-8, -1 - 0x1p-7);
  expect(middle / near, 1 + 0x3p-8, 1 + 0x2p-7);
  expect(Interval(0x3p-8) + near, 1 + 0x3p-8, 1 + 0x1p-7);
  expect(near - Interval(-0x3p-8), 1 + 0x3p-8, 1 + 0x1p-7);
  // 1 - s(1e6) needs more bits than the limit of 8192: a midpoint stays undecided.
  EXPECT_FALSE(Decide(middle * Sigmoid(Interval(1e6)), DType::kBF16));
  EXPECT_TRUE(Decide(Sigmoid(Interval(1e300)), DType::kBF16));
}

// At x = -20 in f32 the sigmoid computed by tanh is 0.
TEST(ActivationFunctions, SigmoidByTanhIsNotPermitted) {
  const ScopedRecipe following(ParseRecipe("*=T", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kActivation);
  const float x = -20, wrong = 0.5f * (1 + std::tanh(0.5f * x));
  EXPECT_GT(std::abs(wrong - std::exp(-20.)), Sigmoid(Counted(x, DType::kF32)).Permitted());
}

}  // namespace
}  // namespace sextant
