#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "reference/number/boost_real.h"
#include "reference/number/counted.h"
#include "reference/number/double_double_functions.h"
#include "reference/number/interval.h"
#include "reference/number/rounded.h"

namespace sextant {
namespace {

struct Function {
  std::string name;
  DoubleDouble (*near)(const DoubleDouble&);
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
       [](double x) { return x >= 2 ? 200 + 10 * x * x : 203 / std::erfc(x); }}};
  return kAll;
}

// Arguments of both signs, from tiny ones to where the functions have reached their limits.
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
    // Beyond, low parts underflow.
    for (const double x : Arguments(f.name == "erfc" ? 24 : 600, steps)) {
      if (f.name == "erfc" && x > 24) continue;
      const DoubleDouble a = TwoSum(x, x * 0x1.5p-55);
      const DoubleDouble y = f.near(a);
      ASSERT_LE(RelativeErrorOf(y, f.enclosed(Interval(a.high) + Interval(a.low))) * 0x1p106,
                f.units(x))
          << f.name << " of " << x;
      ASSERT_EQ(y.high, y.high + y.low);
    }
  }
}

// Two libraries that share no code agree to 2^-300 or so.
TEST(ActivationFunctions, EnclosuresHoldWhatWideFinds) {
  const ScopedPrecision precision(1200);  // tanh x is nearer to x than 2^-400 x
  for (const Function& f : Functions()) {
    for (const double x : Arguments(26, 10)) {
      const Interval y = f.enclosed(Interval(x));
      const auto decided = Decide(y, DType::kF64);
      ASSERT_TRUE(decided) << f.name << " of " << x;
      const double size = std::abs(decided->high);
      ASSERT_LE(f.wide(BoostReal(x)).Distance(decided->high, decided->low), size * 0x1p-104)
          << f.name << " of " << x;
    }
  }
}

TEST(ActivationFunctions, LimitsAreReached) {
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

// One number of the format computed in some way, and what Counted permits there.
void ExpectPermitted(const std::string& what, double x, double got, const Counted& counted,
                     const Interval& exact) {
  const double error = std::abs(Middle(Interval(got) - exact));
  ASSERT_LE(error, counted.Permitted()) << what << " of " << x << " is " << got;
}

template <class Float>
void ExpectHonestWaysPermitted(DType dtype, int steps) {
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
      // And no more than is honest: 6 ulps, or all of it where an exponential overflows.
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
TEST(ActivationFunctions, HonestWaysArePermitted) {
  ExpectHonestWaysPermitted<float>(DType::kF32, 10);
  ExpectHonestWaysPermitted<double>(DType::kF64, 5);
}
TEST(SlowActivationFunctions, OfManyArguments) {
  ExpectDoubleDoublesWithinBounds(1000);
  ExpectHonestWaysPermitted<float>(DType::kF32, 2000);
  ExpectHonestWaysPermitted<double>(DType::kF64, 500);
}

// An argument that is off by e, wherever it lies, moves the function by no more than is said.
TEST(ActivationFunctions, ErrorsOfArgumentsPassThrough) {
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

// s(500) = 1 - e^-500 and s(5000) = 1 - e^-5000, of which a low half knows nothing; the others
// alike. The bits that a proof begins with decide both, and what is multiplied by them: s(5000)
// times the middle between two numbers of bf16 lies below it.
TEST(ActivationFunctions, NumbersNearLimitsAreDecidedAtOnce) {
  const ScopedPrecision precision(184);
  const auto expect = [](const Interval& y, double high, double low, double value) {
    const auto found = Decide(y, DType::kBF16);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->high, high);
    EXPECT_DOUBLE_EQ(found->low, low);
    EXPECT_EQ(found->value, value);
  };
  expect(Sigmoid(Interval(500)), 1, -std::exp(-500), 1);
  expect(Sigmoid(Interval(5000)), 1, 0, 1);
  expect(Tanh(Interval(-250)), -1, 2 * std::exp(-500), -1);
  expect(Erfc(Interval(-20)), 2, -std::erfc(20), 2);
  const Interval middle(1 + 0x3p-8), near = Sigmoid(Interval(5000));
  expect(middle * Interval(1.0), 1 + 0x3p-8, 0, 1 + 0x2p-7);
  expect(middle * near, 1 + 0x3p-8, 0, 1 + 0x1p-7);
  expect(-middle * near, -1 - 0x3p-8, 0, -1 - 0x1p-7);
  expect(middle / near, 1 + 0x3p-8, 0, 1 + 0x2p-7);
  expect(Interval(0x3p-8) + near, 1 + 0x3p-8, 0, 1 + 0x1p-7);
  expect(near - Interval(-0x3p-8), 1 + 0x3p-8, 0, 1 + 0x1p-7);
  // Further away there is no end of bits, and a middle is left open.
  EXPECT_FALSE(Decide(middle * Sigmoid(Interval(1e6)), DType::kBF16));
  EXPECT_TRUE(Decide(Sigmoid(Interval(1e300)), DType::kBF16));
}

// Half a number is what a wrong form leaves of it: at x = -20 in f32 the sigmoid by tanh is 0.
TEST(ActivationFunctions, ASigmoidByTanhIsNotPermitted) {
  const ScopedRecipe following(ParseRecipe("*=T", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kActivation);
  const float x = -20, wrong = 0.5f * (1 + std::tanh(0.5f * x));
  EXPECT_GT(std::abs(wrong - std::exp(-20.)), Sigmoid(Counted(x, DType::kF32)).Permitted());
}

}  // namespace
}  // namespace sextant
