// Counted: the error that an implementation may commit, by running error analysis.
//
// A Counted stands for a real number x of the formula and says how far from x the number may be
// that an implementation holds which follows the thread's recipe (reference/number/recipe.h):
//   center     a double-double near x; |center - x| <= drift
//   error      |x' - x| <= error for every x' that such an implementation can hold here
//   likely     <= error; what |x' - x| hardly exceeds if the roundings of long sums are independent
//   format     x' is a value of this format; empty: of no format (computed exactly)
//   saturated  an angle is lost: error reaches what any angle would give. An element that depends
//              on one is vacuous: nothing could fail it.
// Each operation of a step charges (a) the conversion of an operand that may not be a value of the
// step's format, (b) what the operands' errors do to the exact operation, (c) its own rounding.
// No rounding is charged where all operands are free of error and the exact result is a value of
// the format; nor where a factor is an exact power of two or a summand exactly 0, since then no
// operand can be rounded off except by underflow. Bounds are for rounding to nearest with gradual
// underflow. An implementation may fuse a multiplication with an addition, or compute a step in a
// wider format: then it rounds once where two roundings are charged.
// There is no Less: which way an implementation turns is not known where errors overlap. Formulas
// that are continuous there say Clamp.
// Source of the method: Higham 2002, "Accuracy and Stability of Numerical Algorithms", 3.3.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "reference/number/double_double.h"
#include "reference/number/dtype.h"
#include "reference/number/recipe.h"

namespace sextant {

template <class Real>
class SoftmaxRow;  // reference/attention/softmax_row.h
template <class Real>
class DotOperand;  // reference/number/dot.h

class Counted {
 public:
  Counted() = default;         // exactly 0
  explicit Counted(double x);  // a constant of the formula, an attribute: exactly x, of no format
  Counted(double x, DType format);  // an input: exactly x, held in `format`
  // Any number held in this step whose rounding to `format` is x.
  static Counted RoundedTo(double x, DType format);

  const DoubleDouble& center() const { return center_; }
  double error() const { return error_; }
  double likely() const { return likely_; }
  double drift() const { return drift_; }
  bool saturated() const { return saturated_; }

  // Largest |x' - x|, rounded up; infinite if x' may overflow.
  double Permitted() const;
  // The same of `likely`.
  double Likely() const;

  friend Counted operator+(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a);
  friend Counted operator*(const Counted& a, const Counted& b);
  friend Counted operator/(const Counted& a, const Counted& b);
  friend Counted Sqrt(const Counted& a);
  friend Counted Exp(const Counted& a);
  friend Counted Log(const Counted& a);
  friend Counted Tanh(const Counted& a);
  friend Counted Erf(const Counted& a);
  friend Counted Erfc(const Counted& a);
  friend Counted Sigmoid(const Counted& a);  // 1 / (1 + e^-a)
  friend std::pair<Counted, Counted> CosSin(const Counted& angle);
  friend Counted Converted(const Counted& a);                          // to the format of the step
  friend Counted Power(const Counted& base, const Counted& exponent);  // base > 0
  friend Counted SumOf(std::span<const Counted> terms);
  friend Counted Clamp(const Counted& x, const Counted& low, const Counted& high);
  friend double Floor(const Counted& x);  // of the exact number, whatever an implementation holds
  friend Counted TwoPiOf(const Counted*);

 private:
  friend class SoftmaxRow<Counted>;
  friend class DotOperand<Counted>;
  // The result of an exact operation with a computed centre; charges the rounding of the step.
  struct Bounds {
    double worst = 0, likely = 0;
  };
  struct Raw {
    DoubleDouble center;
    Bounds error;
    double drift;
    bool saturated;
    bool rounds = true;
    double limit = std::numeric_limits<double>::infinity();  // of |x'| before it is rounded
  };
  static Counted Finish(const Raw& raw, double ulps);
  struct Accumulated;  // terms of a sum
  // f(error) for both bounds of a, or f(error of a, error of b) for both of a and b.
  template <class F>
  static Bounds Through(const Counted& a, F f) {
    const double worst = f(a.error_);
    return {worst, a.likely_ == a.error_ ? worst : f(a.likely_)};
  }
  template <class F>
  static Bounds Through(const Counted& a, const Counted& b, F f) {
    const double worst = f(a.error_, b.error_);
    const bool certain = a.likely_ == a.error_ && b.likely_ == b.error_;
    return {worst, certain ? worst : f(a.likely_, b.likely_)};
  }
  void SetError(double worst, double likely) {
    error_ = worst;
    likely_ = likely;
  }
  bool IsExact() const { return error_ == 0 && drift_ == 0; }
  bool IsZero() const { return IsExact() && center_.high == 0; }
  bool IsPowerOfTwo() const;
  double Magnitude() const;  // upper bound of |x|
  double Least() const;      // lower bound of |x'|

  DoubleDouble center_;
  double error_ = 0, likely_ = 0, drift_ = 0;
  std::optional<DType> format_;
  bool saturated_ = false;
};

struct Counted::Accumulated {
  Counted sum;
  double size = 0;  // of all terms, in magnitude
  bool exact = true;
  void Add(const Counted& x);  // of the step's format
  Counted Sum(const StepRule& rule, size_t count);
};

Counted TwoPiOf(const Counted*);

// Relative error of one double-double operation, generously: reference/number/double_double.h
// states at most 33 * 2^-106 for each operation used here but Power (see there).
inline constexpr double kDriftUnit = 0x1p-100;
// What underflow inside a double-double operation can add (before a division by something small).
inline constexpr double kTinyDrift = 0x1p-1060;

// |computed - exact| / sum of |terms| for a sum of n terms by the rule, which is not exact: the
// worst case, and what independent roundings hardly exceed.
struct SumError {
  double worst = 0, likely = 0;
};
SumError RelativeErrorOfSum(const StepRule& rule, size_t n);

// What rounding to the rule's format may commit on a number between `least` and `most` in
// magnitude, flushing included.
double RoundingError(const StepRule& rule, double most, double least);

}  // namespace sextant
