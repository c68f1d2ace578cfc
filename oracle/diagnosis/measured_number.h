// Numbers that answers allow: ranges, numbers with an error bar, and their shortest decimal texts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace sextant::oracle {

// All numbers from low to high; empty if low > high.
template <class Real>
struct RangeOf {
  Real low = -std::numeric_limits<Real>::infinity();
  Real high = std::numeric_limits<Real>::infinity();

  bool IsEmpty() const { return !(low <= high); }
  bool IsBounded() const { return std::isfinite(low) && std::isfinite(high); }
  bool Contains(Real x) const { return low <= x && x <= high; }
  bool Meets(const RangeOf& other) const {
    return std::max(low, other.low) <= std::min(high, other.high);
  }
  Real Middle() const { return low / 2 + high / 2; }
  void Intersect(const RangeOf& other) {
    low = std::max(low, other.low);
    high = std::min(high, other.high);
  }
};
using Range = RangeOf<double>;
using LongRange = RangeOf<long double>;  // of angles and frequencies

// A number and its largest error; an infinite one if nothing is known. A NaN may be no number.
struct MeasuredNumber {
  double value = 0, bar = std::numeric_limits<double>::infinity();
  bool MayBe(double x) const { return std::abs(x - value) <= bar; }
};
inline Range RangeAround(const MeasuredNumber& x) { return {x.value - x.bar, x.value + x.bar}; }
inline MeasuredNumber MiddleOf(const Range& range) {
  return {range.Middle(), range.high / 2 - range.low / 2};
}

// The factors f with |f divisor - value| <= error.
Range Quotient(double value, double error, double divisor);
// The numbers x / divisor of all x in the range. divisor != 0.
LongRange Quotient(const LongRange& range, long double divisor);

// x with so many significant decimal digits, at most 17, and its text: "0.17677", "1e+20".
double RoundedToDigits(long double x, int digits);
std::string TextWithDigits(double x, int digits);

// The fewest digits with which accepts(x rounded to so many digits); 17 if it accepts none.
template <class Accepts>
int FewestDigits(long double x, const Accepts& accepts) {
  constexpr int kMostDigits = 17;  // of a double
  int digits = 1;
  while (digits < kMostDigits && !accepts(RoundedToDigits(x, digits))) ++digits;
  return digits;
}

// The number with the fewest digits in the range. Needs finite limits.
double SimplestIn(const LongRange& range);

// The number with the fewest digits within the error bar, if that is no coincidence: it must have
// two digits less than the measurement has.
std::optional<double> ShortNumber(const MeasuredNumber& measured);

std::string ShortText(double x);                     // "0.1767767"
std::string TextOf(const MeasuredNumber& measured);  // "0.13729 +- 2e-06"
// The short number, or the measured one with its error bar.
std::string ShortestText(const MeasuredNumber& measured);

}  // namespace sextant::oracle
