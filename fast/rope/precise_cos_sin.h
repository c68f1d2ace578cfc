// cos and sin of one angle, correctly rounded. Computed in double-double arithmetic, or in wide
// fixed point if that does not decide the rounding (takes tens of microseconds).
#pragma once

#include <cmath>

#include "fast/simd/element.h"
#include "reference/number/double_double/double_double.h"

namespace sextant::fast {

// amplitude * cos(frequency * position), and the same with sin. `high` is the nearest double, `low`
// the double nearest to the remainder. All operands are taken as exact; NaN if |angle| > 2^53.
//   frequency  radians per token
//   position   an integer of at most 2^53 in magnitude
// The error is below 2^-450 of the amplitude; for angles below 2^-64 the error of sin is below
// 2^-450 of its value. The exact value is transcendental unless the angle is 0 (Lindemann 1882). So
// the rounding is wrong only if it lies that close to the midpoint between two doubles.
SineCosine PreciseCosSin(const DoubleDouble& frequency, double position,
                         const DoubleDouble& amplitude);

// In this range double-double arithmetic neither underflows nor overflows, also without FMA, where
// factors are split.
inline constexpr double kLeast = 0x1p-900, kLargest = 0x1p900;
inline bool IsOrdinary(const DoubleDouble& amplitude) {
  const double A = std::abs(amplitude.high);
  return A == 0 || (A >= kLeast && A <= kLargest);
}

// The same in double-double arithmetic.
inline SineCosine CosSinOf(const DoubleDouble& frequency, double position,
                           const DoubleDouble& amplitude) {
  const SineCosine cos_sin = SinCos(frequency * position);
  return {cos_sin.sine * amplitude, cos_sin.cosine * amplitude};
}

// True if all numbers within `error` of x round to the same T.
template <Element T>
bool IsDecided(const DoubleDouble& x, double error) {
  if (x.high == 0 && error == 0) return true;
  if (!(std::abs(x.high) >= kLeast)) return false;
  const auto rounded = [&x](double moved) {
    return ToDouble(FromDoubleDouble<T>(FastTwoSum(x.high, x.low + moved)));
  };
  return rounded(-error) == rounded(error);
}

// cos and sin accurate enough to be rounded to T. Errors in units of 2^-106: SinCos 13, or 4
// relative to sin for small angles; the product with the amplitude 5; if frequency.low != 0, the
// angle 2 per radian. The sums used here: 20, or 12 for small angles, plus 2 per radian.
template <Element T>
SineCosine CosSinFor(const DoubleDouble& frequency, double position,
                     const DoubleDouble& amplitude) {
  const SineCosine cos_sin = CosSinOf(frequency, position, amplitude);
  const double A = std::abs(amplitude.high), angle = std::abs(frequency.high * position);
  const double cosine_error = 0x1p-106 * A * (20 + (frequency.low == 0 ? 0 : 2 * angle));
  const double sine_error =
      angle <= 0x1p-5 ? 0x1p-106 * 12 * std::abs(cos_sin.sine.high) : cosine_error;
  const bool decided = IsOrdinary(amplitude) && IsDecided<T>(cos_sin.cosine, cosine_error) &&
                       IsDecided<T>(cos_sin.sine, sine_error);
  return decided ? cos_sin : PreciseCosSin(frequency, position, amplitude);
}

}  // namespace sextant::fast
