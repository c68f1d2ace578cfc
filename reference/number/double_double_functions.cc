#include "reference/number/double_double_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/double_double_functions.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

// Compiled for each instruction set, as double_double.cc.
HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {

// 2 / sqrt(pi): the nearest double, and the double nearest to the remainder.
constexpr DoubleDouble kTwoOverRootPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56};

// For a < 1/4: a / (1 + a^2 / (3 + a^2 / (5 + ...))), truncated after 11 levels with an error of
// 2^-115. The levels from the 7th on contribute less than 2^-57 of the result and are computed in
// double. The last division adds an error of 15 units, the sum before it 3, and everything before
// that a fiftieth as much.
DoubleDouble TanhNearZero(const DoubleDouble& a) {
  constexpr int kLevels = 11, kPrecise = 6;  // the first 6 in double-double
  const DoubleDouble square = a * a;
  double deep = 2 * kLevels - 1;
  for (int k = kLevels - 1; k > kPrecise; --k) deep = (2 * k - 1) + square.high / deep;
  DoubleDouble fraction = deep;
  for (int k = kPrecise; k > 0; --k) fraction = square / fraction + (2.0 * k - 1);
  return a / fraction;
}

// For 0 <= a < 2:  2/sqrt(pi) e^(-a^2) a (1 + t/3 (1 + t/5 (1 + ...))),  t = 2 a^2: no term is
// negative. Where t is 8, the first four levels propagate nearly all of an error, and each adds 11
// units. The error of a^2 is 20 units, which become 20 units of the exponential.
// Level k multiplies an error of the levels behind it by the product of t/3 .. t/(2k+1). Levels
// behind a product below 2^-62 are computed in double: where t/(2k+1) < 1/2, an error of 2^-50 of
// them, and so 2^-112 of the sum. The series ends behind a product below 2^-115.
// Source: Abramowitz and Stegun 1964, 7.1.6.
DoubleDouble ErfBySeries(const DoubleDouble& a) {
  const DoubleDouble square = a * a, t = square * 2.0;
  int precise = 0, levels = 0;
  for (double product = 1; product > 0x1p-115;) {
    product *= t.high / (2 * ++levels + 1);
    if (product > 0x1p-62) precise = levels;
  }
  double deep = 1;
  for (int k = levels; k > precise + 1; --k) deep = t.high * deep / (2 * k + 1) + 1;
  DoubleDouble sum = deep;
  for (int k = precise + 1; k > 0; --k) sum = t * sum / (2.0 * k + 1) + 1.0;
  return kTwoOverRootPi * a * exp(-square) * sum;
}

// Number of levels of the fraction below after which the remainder contributes at most `part` of
// the result. Level k multiplies a relative change by (k/2) / f^2, where f = a + (k/2) / f
// approximates the value of the levels from k on.
int LevelsLeaving(double part, double a) {
  int k = 0;
  for (double rest = 1; rest > part;) {
    ++k;
    const double f = (a + std::sqrt(a * a + 2 * k)) / 2;
    rest *= 0.5 * k / (f * f);
  }
  return k + 1;
}

// For a >= 2:  e^(-a^2) / sqrt(pi) / (a + (1/2) / (a + (2/2) / (a + (3/2) / (a + ...)))).
// Levels that contribute less than 2^-62 of the result are computed in double. A level propagates
// at most half of its own error. Source: Abramowitz and Stegun 1964, 7.1.14.
DoubleDouble ErfcByFraction(const DoubleDouble& a) {
  const int precise = LevelsLeaving(0x1p-62, a.high);  // in double-double
  double deep = a.high;
  for (int k = LevelsLeaving(0x1p-115, a.high); k > precise; --k) deep = a.high + 0.5 * k / deep;
  DoubleDouble fraction = deep;
  for (int k = precise; k > 0; --k) fraction = a + DoubleDouble(0.5 * k) / fraction;
  return exp(-(a * a)) * (kTwoOverRootPi * 0.5) / fraction;
}

// (m - 1) / (m + 1) with m = e^2a: for m >= 1.65 an error of 12 units of m becomes 23 units; the
// difference, the sum and the division add 3 + 3 + 15.
DoubleDouble Tanh(const DoubleDouble& a) {
  const DoubleDouble size = abs(a);
  if (!(size.high > 0)) return a;                      // 0 or NaN
  if (size.high > 40) return a.high < 0 ? -1.0 : 1.0;  // 1 - 2 e^-80 is less than 2^-113 away
  DoubleDouble y;
  if (size.high < 0.25) {
    y = TanhNearZero(size);
  } else {
    const DoubleDouble m = exp(size * 2.0);
    y = (m + -1.0) / (m + 1.0);
  }
  return a.high < 0 ? -y : y;
}

// Errors: 12 units of the exponential, 3 of the sum, 15 of the division.
DoubleDouble Sigmoid(const DoubleDouble& a) {
  const DoubleDouble e = exp(-abs(a));
  return (a.high < 0 ? e : DoubleDouble(1.0)) / (e + 1.0);
}

DoubleDouble Erf(const DoubleDouble& a) {
  if (a.high < 0) return -Erf(-a);
  if (!(a.high >= 2)) return ErfBySeries(a);
  return a.high > 40 ? DoubleDouble(1.0) : DoubleDouble(1.0) - ErfcByFraction(a);
}

DoubleDouble Erfc(const DoubleDouble& a) {
  if (!(a.high >= 2)) return DoubleDouble(1.0) - Erf(a);
  return a.high > 40 ? DoubleDouble(0.0) : ErfcByFraction(a);  // e^-1600 is below every double
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(Tanh);
HWY_EXPORT(Sigmoid);
HWY_EXPORT(Erf);
HWY_EXPORT(Erfc);

}  // namespace

DoubleDouble tanh(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(Tanh)(a); }
DoubleDouble sigmoid(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(Sigmoid)(a); }
DoubleDouble erf(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(Erf)(a); }
DoubleDouble erfc(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(Erfc)(a); }

}  // namespace sextant
#endif
