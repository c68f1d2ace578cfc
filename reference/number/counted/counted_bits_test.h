// Compares numbers of two paths bit by bit, on every instruction set.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

// All NaNs are equal.
inline void ExpectSameNumber(double a, double b) {
  EXPECT_TRUE(a == b || (a != a && b != b)) << a << " and " << b;
}

inline void ExpectSameBits(const Counted& a, const Counted& b) {
  ExpectSameNumber(a.center().high, b.center().high);
  ExpectSameNumber(a.center().low, b.center().low);
  ExpectSameNumber(a.drift(), b.drift());
  ExpectSameNumber(a.error(), b.error());
  ExpectSameNumber(a.likely(), b.likely());
  EXPECT_EQ(a.format(), b.format());
  EXPECT_EQ(a.saturated(), b.saturated());
}

// Numbers that fast paths may treat as special cases: the first `kinds` of 0, powers of two, and
// three kinds of numbers near the limits of a format.
inline double SpecialValue(DType dtype, Random& random, size_t kinds = 5) {
  switch (random.Below(kinds)) {
    case 0:
      return 0;
    case 1:
      return std::ldexp(1.0, static_cast<int>(random.Below(9)) - 4);
    case 2:
      return MinSubnormal(dtype);
    case 3:
      return MaxFinite(dtype);
    default:
      return RoundTo(dtype, std::sqrt(MinNormal(dtype)) * random.Uniform(-2, 2));
  }
}

inline constexpr size_t kMostLanes = 8;  // of doubles, in every instruction set

template <class Check>
void OnEveryTarget(Check check) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace sextant
