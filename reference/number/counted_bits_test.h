// Compares numbers of two paths bit by bit, on every instruction set.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "reference/number/counted.h"

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
