#include "reference/number/exact/boost_real_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "reference/case/random_test.h"

namespace sextant {
namespace {

TEST(WideError, IsZeroForADouble) {
  EXPECT_EQ(ErrorOf(BoostReal(0.1)), 0);
  EXPECT_EQ(ErrorOf(-BoostReal(0.1)), 0);
  EXPECT_EQ(ErrorOf(BoostReal(0.0)), 0);
}

TEST(WideError, CoversCancellationInASum) {
  const BoostReal lost = BoostReal(0x1p600) + BoostReal(1.0) - BoostReal(0x1p600);
  EXPECT_EQ(lost.High(), 0);  // the exact value is 1
  EXPECT_GE(ErrorOf(lost), 1);
  EXPECT_LT(ErrorOf(lost), 0x1p270L);
  const BoostReal kept = BoostReal(0x1p300) + BoostReal(1.0) - BoostReal(0x1p300);
  EXPECT_EQ(kept.High(), 1);
  EXPECT_LT(ErrorOf(kept), 0x1p-30L);
}

// x with an additional error of about size * 2^-334.
BoostReal Disturbed(const BoostReal& x, double size) {
  return BoostReal(size) + x - BoostReal(size);
}

// Two computations of one number differ by at most the sum of their error bounds.
void ExpectBounded(const BoostReal& exact, const BoostReal& disturbed, const std::string& name) {
  const double high = exact.High();
  const double low = (exact - BoostReal(high)).High();
  EXPECT_LE(DistanceOf(disturbed, high, low),
            ErrorOf(exact) + ErrorOf(disturbed) + std::abs(high) * 0x1p-104L)
      << name << " at " << high;
  EXPECT_LT(ErrorOf(exact), std::abs(high) * 0x1p-200L) << name << " at " << high;
}

TEST(WideError, CoversTheErrorOfAnArgument) {
  const BoostReal other(0.7);
  const std::pair<const char*, std::function<BoostReal(const BoostReal&)>> functions[] = {
      {"x + c", [&](const BoostReal& x) { return x + other; }},
      {"x * c", [&](const BoostReal& x) { return x * other; }},
      {"x / c", [&](const BoostReal& x) { return x / other; }},
      {"c / x", [&](const BoostReal& x) { return other / x; }},
      {"sqrt", [](const BoostReal& x) { return Sqrt(x); }},
      {"exp", [](const BoostReal& x) { return Exp(x); }},
      {"exp2", [](const BoostReal& x) { return Exp2(x); }},
      {"log", [](const BoostReal& x) { return Log(x); }},
      {"tanh", [](const BoostReal& x) { return Tanh(x); }},
      {"erf", [](const BoostReal& x) { return Erf(x); }},
      {"erfc", [](const BoostReal& x) { return Erfc(x); }},
      {"erfc(-x)", [](const BoostReal& x) { return Erfc(-x); }},
      {"sigmoid", [](const BoostReal& x) { return Sigmoid(x); }},
      {"cos", [](const BoostReal& x) { return CosSin(x).first; }},
      {"sin", [](const BoostReal& x) { return CosSin(x).second; }},
      {"x^c", [&](const BoostReal& x) { return Power(x, other); }},
      {"c^x", [&](const BoostReal& x) { return Power(other, x); }}};
  Random random(1);
  for (const auto& [name, function] : functions) {
    for (int i = 0; i < 50; ++i) {
      const BoostReal x =
          BoostReal(random.Uniform(0.05, 40)) / BoostReal(3.0);  // not representable
      const double size = std::ldexp(1.0, 250 + static_cast<int>(random.Below(60)));
      ExpectBounded(function(x), function(Disturbed(x, size)), name);
    }
  }
}

TEST(WideError, IsInfiniteWhereADivisorMayBeZero) {
  const BoostReal nothing = Disturbed(BoostReal(0x1p-100), 0x1p300);  // may be 0
  EXPECT_EQ(ErrorOf(BoostReal(1.0) / nothing), INFINITY);
  EXPECT_EQ(ErrorOf(Log(nothing)), INFINITY);
}

}  // namespace
}  // namespace sextant
