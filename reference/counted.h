// Counted: the error that an implementation may commit, by running error analysis.
//
// A Counted stands for a real number x of the formula and says how far from x the number may be
// that an implementation holds which follows the thread's recipe (reference/recipe.h):
//   center     a double-double near x; |center - x| <= drift
//   error      |x' - x| <= error for every x' that such an implementation can hold here
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

#include "reference/double_double.h"
#include "reference/dtype.h"
#include "reference/recipe.h"

namespace sextant {

template <class Real>
class SoftmaxRow;  // reference/softmax_row.h

class Counted {
 public:
  Counted() = default;         // exactly 0
  explicit Counted(double x);  // a constant of the formula, an attribute: exactly x, of no format
  Counted(double x, DType format);  // an input: exactly x, held in `format`

  const DoubleDouble& center() const { return center_; }
  double error() const { return error_; }
  double drift() const { return drift_; }
  bool saturated() const { return saturated_; }

  // Largest |x' - x|, rounded up; infinite if x' may overflow.
  double Permitted() const;

  friend Counted operator+(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a);
  friend Counted operator*(const Counted& a, const Counted& b);
  friend Counted operator/(const Counted& a, const Counted& b);
  friend Counted Sqrt(const Counted& a);
  friend Counted Exp(const Counted& a);
  friend Counted Log(const Counted& a);
  friend std::pair<Counted, Counted> CosSin(const Counted& angle);
  friend Counted Converted(const Counted& a);                          // to the format of the step
  friend Counted Power(const Counted& base, const Counted& exponent);  // base > 0
  friend Counted SumOf(std::span<const Counted> terms);
  friend Counted Clamp(const Counted& x, const Counted& low, const Counted& high);
  friend double Floor(const Counted& x);  // of the exact number, whatever an implementation holds
  friend Counted TwoPiOf(const Counted*);

 private:
  friend class SoftmaxRow<Counted>;
  // The result of an exact operation with a computed centre; charges the rounding of the step.
  struct Raw {
    DoubleDouble center;
    double error, drift;
    bool saturated;
    bool rounds = true;
    double limit = std::numeric_limits<double>::infinity();  // of |x'| before it is rounded
  };
  static Counted Finish(const Raw& raw, double ulps);
  bool IsExact() const { return error_ == 0 && drift_ == 0; }
  bool IsZero() const { return IsExact() && center_.high == 0; }
  bool IsPowerOfTwo() const;
  double Magnitude() const;  // upper bound of |x|

  DoubleDouble center_;
  double error_ = 0, drift_ = 0;
  std::optional<DType> format_;
  bool saturated_ = false;
};

Counted TwoPiOf(const Counted*);

// Relative error of one double-double operation, generously: reference/double_double.h states at
// most 33 * 2^-106 for each operation used here but Power (see there).
inline constexpr double kDriftUnit = 0x1p-100;
// What underflow inside a double-double operation can add (before a division by something small).
inline constexpr double kTinyDrift = 0x1p-1060;

// |computed - exact| / sum of |terms| for a sum of n terms by the rule, which is not exact.
double RelativeErrorOfSum(const StepRule& rule, size_t n);

}  // namespace sextant
