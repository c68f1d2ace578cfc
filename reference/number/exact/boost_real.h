// BoostReal: a number type that shares no code with MPFR, for a second opinion on every golden.
// It is Boost.Multiprecision's cpp_bin_float with 100 decimal digits (334 bits). Its functions are
// accurate to a few units in the last place, without a proof; Interval has the proof.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "reference/number/tensor/dtype.h"

namespace sextant {

class BoostReal {
 public:
  struct Number;  // the Boost number, defined in boost_real.cc

  BoostReal() : BoostReal(0.0) {}
  explicit BoostReal(double x);
  BoostReal(double x, DType) : BoostReal(x) {}
  explicit BoostReal(std::shared_ptr<const Number> number) : number_(std::move(number)) {}
  const Number& number() const { return *number_; }

  double High() const;                             // rounded to double
  double Distance(double high, double low) const;  // |x - (high + low)|, rounded to double

  friend BoostReal operator+(const BoostReal& a, const BoostReal& b);
  friend BoostReal operator-(const BoostReal& a, const BoostReal& b);
  friend BoostReal operator-(const BoostReal& a);
  friend BoostReal operator*(const BoostReal& a, const BoostReal& b);
  friend BoostReal operator/(const BoostReal& a, const BoostReal& b);
  friend BoostReal Sqrt(const BoostReal& a);
  friend BoostReal Exp(const BoostReal& a);
  friend BoostReal Exp2(const BoostReal& a);
  friend BoostReal Log(const BoostReal& a);
  friend BoostReal Tanh(const BoostReal& a);
  friend BoostReal Erf(const BoostReal& a);
  friend BoostReal Erfc(const BoostReal& a);
  friend BoostReal Sigmoid(const BoostReal& a);  // 1 / (1 + e^-a)
  friend std::pair<BoostReal, BoostReal> CosSin(const BoostReal& angle);
  friend BoostReal Power(const BoostReal& base, const BoostReal& exponent);  // base > 0
  friend bool Less(const BoostReal& a, const BoostReal& b);
  friend double Floor(const BoostReal& a);
  friend BoostReal TwoPiOf(const BoostReal*);

 private:
  std::shared_ptr<const Number> number_;  // immutable: copies share it
};

BoostReal TwoPiOf(const BoostReal*);

}  // namespace sextant
