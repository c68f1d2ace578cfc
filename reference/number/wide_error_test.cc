#include "reference/number/wide_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "reference/case/random_test.h"

namespace sextant {
namespace {

TEST(WideError, IsZeroForADouble) {
  EXPECT_EQ(ErrorOf(Wide(0.1)), 0);
  EXPECT_EQ(ErrorOf(-Wide(0.1)), 0);
  EXPECT_EQ(ErrorOf(Wide(0.0)), 0);
}

TEST(WideError, CoversCancellationInASum) {
  const Wide lost = Wide(0x1p600) + Wide(1.0) - Wide(0x1p600);
  EXPECT_EQ(lost.High(), 0);  // the exact value is 1
  EXPECT_GE(ErrorOf(lost), 1);
  EXPECT_LT(ErrorOf(lost), 0x1p270L);
  const Wide kept = Wide(0x1p300) + Wide(1.0) - Wide(0x1p300);
  EXPECT_EQ(kept.High(), 1);
  EXPECT_LT(ErrorOf(kept), 0x1p-30L);
}

// x with an additional error of about size * 2^-334.
Wide Disturbed(const Wide& x, double size) { return Wide(size) + x - Wide(size); }

// Two computations of one number differ by at most the sum of their error bounds.
void ExpectBounded(const Wide& exact, const Wide& disturbed, const std::string& name) {
  const double high = exact.High();
  const double low = (exact - Wide(high)).High();
  EXPECT_LE(DistanceOf(disturbed, high, low),
            ErrorOf(exact) + ErrorOf(disturbed) + std::abs(high) * 0x1p-104L)
      << name << " at " << high;
  EXPECT_LT(ErrorOf(exact), std::abs(high) * 0x1p-200L) << name << " at " << high;
}

TEST(WideError, CoversTheErrorOfAnArgument) {
  const Wide other(0.7);
  const std::pair<const char*, std::function<Wide(const Wide&)>> functions[] = {
      {"x + c", [&](const Wide& x) { return x + other; }},
      {"x * c", [&](const Wide& x) { return x * other; }},
      {"x / c", [&](const Wide& x) { return x / other; }},
      {"c / x", [&](const Wide& x) { return other / x; }},
      {"sqrt", [](const Wide& x) { return Sqrt(x); }},
      {"exp", [](const Wide& x) { return Exp(x); }},
      {"exp2", [](const Wide& x) { return Exp2(x); }},
      {"log", [](const Wide& x) { return Log(x); }},
      {"tanh", [](const Wide& x) { return Tanh(x); }},
      {"erf", [](const Wide& x) { return Erf(x); }},
      {"erfc", [](const Wide& x) { return Erfc(x); }},
      {"erfc(-x)", [](const Wide& x) { return Erfc(-x); }},
      {"sigmoid", [](const Wide& x) { return Sigmoid(x); }},
      {"cos", [](const Wide& x) { return CosSin(x).first; }},
      {"sin", [](const Wide& x) { return CosSin(x).second; }},
      {"x^c", [&](const Wide& x) { return Power(x, other); }},
      {"c^x", [&](const Wide& x) { return Power(other, x); }}};
  Random random(1);
  for (const auto& [name, function] : functions) {
    for (int i = 0; i < 50; ++i) {
      const Wide x = Wide(random.In(0.05, 40)) / Wide(3.0);  // not representable
      const double size = std::ldexp(1.0, 250 + static_cast<int>(random.Below(60)));
      ExpectBounded(function(x), function(Disturbed(x, size)), name);
    }
  }
}

TEST(WideError, IsInfiniteWhereADivisorMayBeZero) {
  const Wide nothing = Disturbed(Wide(0x1p-100), 0x1p300);  // may be 0
  EXPECT_EQ(ErrorOf(Wide(1.0) / nothing), INFINITY);
  EXPECT_EQ(ErrorOf(Log(nothing)), INFINITY);
}

}  // namespace
}  // namespace sextant
