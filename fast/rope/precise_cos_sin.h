// One cos and sin, correctly rounded: in double-double arithmetic, or in wide fixed point where
// that leaves the rounding open (tens of microseconds).
#pragma once

#include <cmath>

#include "fast/simd/element.h"
#include "reference/number/double_double.h"

namespace sextant::fast {

// amplitude * cos(frequency * position), and sin: high is the nearest double, low the nearest to
// what it leaves. All operands are taken as exact; NaN where |angle| > 2^53.
//   frequency  radians per token
//   position   an integer of at most 2^53 in magnitude
// The error is below 2^-450 of the amplitude, and of the sine itself for angles below 2^-64. So a
// rounding is wrong only if the exact value, which is transcendental unless the angle is 0
// (Lindemann 1882), lies that close to the middle between two doubles.
SineCosine PreciseCosSin(const DoubleDouble& frequency, double position,
                         const DoubleDouble& amplitude);

// Where double-double arithmetic neither underflows nor overflows; without FMA it splits its
// factors.
inline constexpr double kLeast = 0x1p-900, kLargest = 0x1p900;
inline bool IsOrdinary(const DoubleDouble& amplitude) {
  const double A = std::abs(amplitude.high);
  return A == 0 || (A >= kLeast && A <= kLargest);
}

// The same in double-double arithmetic.
inline SineCosine CosSinOf(const DoubleDouble& frequency, double position,
                           const DoubleDouble& amplitude) {
  const SineCosine turn = SinCos(frequency * position);
  return {turn.sine * amplitude, turn.cosine * amplitude};
}

// True if no number within `error` of x rounds to another T.
template <Element T>
bool IsSettled(const DoubleDouble& x, double error) {
  if (x.high == 0 && error == 0) return true;
  if (!(std::abs(x.high) >= kLeast)) return false;
  const auto rounded = [&x](double moved) {
    return ToDouble(FromDoubleDouble<T>(FastTwoSum(x.high, x.low + moved)));
  };
  return rounded(-error) == rounded(error);
}

// The turn to be rounded to T. In units of 2^-106: SinCos 13, of small angles 4 relative to the
// sine; the product with the amplitude 5, and the angle 2 for every radian if the frequency has two
// words: 20 or 12, and 2 for every radian.
template <Element T>
SineCosine CosSinFor(const DoubleDouble& frequency, double position,
                     const DoubleDouble& amplitude) {
  const SineCosine turn = CosSinOf(frequency, position, amplitude);
  const double A = std::abs(amplitude.high), angle = std::abs(frequency.high * position);
  const double cosine_error = 0x1p-106 * A * (20 + (frequency.low == 0 ? 0 : 2 * angle));
  const double sine_error =
      angle <= 0x1p-5 ? 0x1p-106 * 12 * std::abs(turn.sine.high) : cosine_error;
  const bool settled = IsOrdinary(amplitude) && IsSettled<T>(turn.cosine, cosine_error) &&
                       IsSettled<T>(turn.sine, sine_error);
  return settled ? turn : PreciseCosSin(frequency, position, amplitude);
}

}  // namespace sextant::fast
