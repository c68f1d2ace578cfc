// Wide: a number type that shares no code with MPFR, for a second opinion on every golden.
// It is Boost.Multiprecision's cpp_bin_float with 100 decimal digits (334 bits). Its functions are
// accurate to a few units in the last place, without a proof; Interval has the proof.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "reference/number/dtype.h"

namespace sextant {

class Wide {
 public:
  struct Number;  // the Boost number, defined in wide.cc

  Wide() : Wide(0.0) {}
  explicit Wide(double x);
  Wide(double x, DType) : Wide(x) {}
  explicit Wide(std::shared_ptr<const Number> number) : number_(std::move(number)) {}
  const Number& number() const { return *number_; }

  double High() const;                             // rounded to double
  double Distance(double high, double low) const;  // |x - (high + low)|, rounded to double

  friend Wide operator+(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a);
  friend Wide operator*(const Wide& a, const Wide& b);
  friend Wide operator/(const Wide& a, const Wide& b);
  friend Wide Sqrt(const Wide& a);
  friend Wide Exp(const Wide& a);
  friend Wide Exp2(const Wide& a);
  friend Wide Log(const Wide& a);
  friend Wide Tanh(const Wide& a);
  friend Wide Erf(const Wide& a);
  friend Wide Erfc(const Wide& a);
  friend Wide Sigmoid(const Wide& a);  // 1 / (1 + e^-a)
  friend std::pair<Wide, Wide> CosSin(const Wide& angle);
  friend Wide Power(const Wide& base, const Wide& exponent);  // base > 0
  friend bool Less(const Wide& a, const Wide& b);
  friend double Floor(const Wide& a);
  friend Wide TwoPiOf(const Wide*);

 private:
  std::shared_ptr<const Number> number_;  // immutable: copies share it
};

Wide TwoPiOf(const Wide*);

}  // namespace sextant
