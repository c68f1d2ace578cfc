// A number with an error bound. Properties compute with it, so the effect of rounding needs neither
// a derivation by hand nor a tolerance.
//
// A Measured represents an unknown exact number x with |value - x| <= error. The errors of a
// subject's answer are the permitted errors of its recipe. With |a - x| <= e and |b - y| <= f
//   |(a + b) - (x + y)| <= e + f,   |a b - x y| <= |a| f + |b| e + e f.
// Every operation also adds the error of its own rounding to double, so the bounds remain valid.
#pragma once

#include <cmath>

#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {

class Measured {
 public:
  Measured(double exact) : value_(exact) {}  // implicit: properties use plain numbers too

  // If the error is infinite, x is unknown and the value does not matter. If the error is finite
  // but the value is not, the value is wrong: it becomes NaN, and so does every result computed
  // from it.
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
  // Adds half an ulp of the value, or of the smallest normal number; and a margin for the rounding
  // of the error itself (a few operations, 2^-53 each).
  static Measured Finish(const Measured& a, const Measured& b, double value, double error) {
    if (std::isnan(a.value_) || std::isnan(b.value_)) return kNaN;
    if (std::isinf(a.error_) || std::isinf(b.error_) || !std::isfinite(value))
      return {0, kInfinity};
    return {value, (error + std::abs(value) * 0x1p-53 + 0x1p-1074) * (1 + 0x1p-50)};
  }

  double value_, error_ = 0;
};

// A double that was rounded once to nearest, from many more digits: its error is half an ulp.
Measured Nearest(double value);
// ln x. Precondition: x > 0.
Measured LogOf(double x);

}  // namespace sextant::oracle
