// Rounded: the numbers that an implementation of the thread's recipe computes.
//
// Every operation converts its operands to the format of the step
// (reference/number/recipe/recipe.h), computes and rounds to nearest; in an exact step it computes
// in double-double. Elementary functions are correctly rounded to f32 and narrower formats; in f64
// the C library computes them. Double rounding (double, then the format) is innocuous for + - * /
// and sqrt to f32, f16 and bf16. Source: Figueroa 1995, "When is double rounding innocuous?",
// SIGNUM Newsletter 30(3).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "reference/number/double_double/double_double.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// x rounded once to `type`.
double RoundTo(DType type, const DoubleDouble& x);

class Rounded {
 public:
  Rounded() = default;
  explicit Rounded(double x) : value_(x) {}
  Rounded(double x, DType) : value_(x) {}

  double value() const { return value_.high; }
  const DoubleDouble& number() const { return value_; }  // of an exact step it has more digits
  bool IsDouble() const { return value_.low == 0; }
  bool IsF32() const { return value_.low == 0 && static_cast<float>(value_.high) == value_.high; }

  friend Rounded operator+(const Rounded& a, const Rounded& b);
  friend Rounded operator-(const Rounded& a, const Rounded& b);
  friend Rounded operator-(const Rounded& a);
  friend Rounded operator*(const Rounded& a, const Rounded& b);
  friend Rounded operator/(const Rounded& a, const Rounded& b);
  friend Rounded Sqrt(const Rounded& a);
  friend Rounded Exp(const Rounded& a);
  // Exp of each, several times as fast in formats of at most 32 bits.
  friend std::vector<Rounded> ExpOfAll(std::span<const Rounded> numbers);
  friend Rounded Log(const Rounded& a);
  friend Rounded Tanh(const Rounded& a);
  friend Rounded Erf(const Rounded& a);
  friend Rounded Erfc(const Rounded& a);
  friend Rounded Sigmoid(const Rounded& a);  // 1 / (1 + e^-a)
  friend std::pair<Rounded, Rounded> CosSin(const Rounded& angle);
  friend Rounded Converted(const Rounded& a);
  friend Rounded Power(const Rounded& base, const Rounded& exponent);  // base > 0
  friend Rounded SumOf(std::span<const Rounded> terms);
  friend Rounded SumOfProducts(std::span<const Rounded> a, std::span<const Rounded> b);
  friend bool Less(const Rounded& a, const Rounded& b);
  friend double Floor(const Rounded& a);
  friend Rounded TwoPiOf(const Rounded*);

 private:
  explicit Rounded(const DoubleDouble& x) : value_(x) {}
  static Rounded Finish(const DoubleDouble& x);
  static Rounded TensorCoreSum(std::span<const Rounded> terms);

  DoubleDouble value_;
};

std::vector<Rounded> ExpOfAll(std::span<const Rounded> numbers);
Rounded TwoPiOf(const Rounded*);

}  // namespace sextant
