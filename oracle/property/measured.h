// A number known up to an error: what properties are computed with, so that how far rounding may
// push a property needs no derivation by hand and no typed-in tolerance.
//
// A Measured stands for an exact number x that some subject approximated: |value - x| <= error,
// where the errors are those that the subject's recipe permits. With |a - x| <= e and |b - y| <= f
//   |(a + b) - (x + y)| <= e + f,   |a b - x y| <= |a| f + |b| e + e f.
// To these every operation adds its own rounding to a double, so that what it yields stays true.
#pragma once

#include <cmath>

#include "reference/number/dtype.h"

namespace sextant::oracle {

class Measured {
 public:
  Measured(double exact)
      : value_(exact) {}  // implicit: properties are written with plain numbers too

  // An infinite error says nothing of x, whatever the value. A value that is not finite although
  // its error is, is wrong, and stays NaN in everything computed from it.
  Measured(double value, double error) : value_(value), error_(error) {
    if (std::isinf(error)) value_ = 0;
    if (!std::isfinite(value_)) *this = Measured(kNaN);
  }

  double value() const { return value_; }
  double error() const { return error_; }

  friend Measured operator-(const Measured& a) { return {-a.value_, a.error_}; }
  friend Measured operator+(const Measured& a, const Measured& b) {
    return Finish(a, b, a.value_ + b.value_, a.error_ + b.error_);
  }
  friend Measured operator-(const Measured& a, const Measured& b) { return a + -b; }
  friend Measured operator*(const Measured& a, const Measured& b) {
    const double error =
        std::abs(a.value_) * b.error_ + std::abs(b.value_) * a.error_ + a.error_ * b.error_;
    return Finish(a, b, a.value_ * b.value_, error);
  }

 private:
  // Half an ulp of the value, or of the smallest normal number; and a margin for the rounding of
  // the error itself, a few operations of 2^-53 each.
  static Measured Finish(const Measured& a, const Measured& b, double value, double error) {
    if (std::isnan(a.value_) || std::isnan(b.value_)) return kNaN;
    if (std::isinf(a.error_) || std::isinf(b.error_) || !std::isfinite(value))
      return {0, kInfinity};
    return {value, (error + std::abs(value) * 0x1p-53 + 0x1p-1074) * (1 + 0x1p-50)};
  }

  double value_, error_ = 0;
};

}  // namespace sextant::oracle
