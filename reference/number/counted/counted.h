// Counted: running error analysis, which bounds the error that an implementation may commit.
//
// A Counted represents a real number x of the formula. Let x' be the number that an implementation
// of the thread's recipe (reference/number/recipe/recipe.h) holds in place of x. The members are
//   center     a double-double approximation of x; |center - x| <= drift
//   error      |x' - x| <= error for every possible x'
//   likely     <= error; |x' - x| <= likely holds with high probability if the roundings of long
//              sums are independent
//   format     x' is a value of this format; empty: x' has no format (it is computed exactly)
//   saturated  an angle is lost: its error is so large that any angle is possible. An element that
//              depends on such an angle is vacuous: no answer could fail there.
// Each operation in a step charges three errors:
//   (a) the conversion of an operand that may not be a value of the step's format;
//   (b) the effect of the operands' errors on the exact operation;
//   (c) its own rounding.
// No rounding is charged if all operands are free of error and the exact result is a value of the
// format. Nor is one charged if one factor is exactly a power of two, or one summand is exactly 0:
// then only underflow or overflow could change a digit of the other operand.
// The bounds hold for rounding to nearest with gradual underflow. An implementation may fuse a
// multiplication with an addition, or compute a step in a wider format: then it rounds once where
// two roundings are charged.
// There is no Less: where errors overlap, an implementation may take either branch. Formulas that
// are continuous at the branch use Clamp.
// Source of the method: Higham 2002, "Accuracy and Stability of Numerical Algorithms", 3.3.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "reference/number/double_double/double_double.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

class Counted {
 public:
  // Two bounds of one error.
  struct Bounds {
    double worst = 0, likely = 0;
  };
  Counted() = default;                        // exactly 0
  explicit Counted(double x) : center_(x) {}  // a constant or an attribute, without a format
  Counted(double x, DType format) : center_(x), format_(format) {}  // an input, of that format
  // All members are derived elsewhere. Where it matters numbers are made in their places
  // (std::construct_at): with g++ 12, a copy of one that was just written waits for the writes.
  Counted(const DoubleDouble& center, const Bounds& error, double drift,
          const std::optional<DType>& format, bool saturated)
      : center_(center),
        error_(error.worst),
        likely_(error.likely),
        drift_(std::isnan(drift) ? kInfinity : drift),  // infinity times 0
        format_(format),
        saturated_(saturated) {}
  // Any number that this step can hold and whose rounding to `format` is x.
  static Counted RoundedTo(double x, DType format);

  // A number without an error whose other members are derived elsewhere.
  static Counted Of(const DoubleDouble& center, double drift, std::optional<DType> format,
                    bool saturated) {
    return Counted(center, {}, drift, format, saturated);
  }
  Counted WithError(const Bounds& error) const {
    Counted y = *this;
    y.SetError(error.worst, error.likely);
    return y;
  }
  // The same number with the centre and drift of `other`, another evaluation of the same exact
  // number.
  Counted AroundCenterOf(const Counted& other) const;

  const DoubleDouble& center() const { return center_; }
  double error() const { return error_; }
  double likely() const { return likely_; }
  double drift() const { return drift_; }
  const std::optional<DType>& format() const { return format_; }
  bool saturated() const { return saturated_; }
  bool IsExact() const { return error_ == 0 && drift_ == 0; }
  bool IsZero() const { return IsExact() && center_.high == 0; }
  double Magnitude() const {  // upper bound of |x|
    return std::abs(center_.high) * (1 + 0x1p-50) + drift_;
  }
  // True if products with the number need no special case: it is finite, and neither 0 nor a power
  // of two.
  bool IsOrdinaryFactor() const;
  bool IsPowerOfTwo() const {  // exactly 2^n or -2^n
    const uint64_t bits = std::bit_cast<uint64_t>(center_.high) << 1 >> 1;
    const uint64_t exponent = bits >> 52, fraction = bits << 12;
    return IsExact() && center_.low == 0 && exponent != 0x7ff &&
           (exponent == 0 ? std::has_single_bit(fraction) : fraction == 0);
  }

  // Upper bound of |x' - (high + low)| for the golden's approximation of x (golden.h), rounded up;
  // infinite if x' may overflow. 0 if every x' is exactly x.
  double Permitted() const { return FromGolden(error_); }
  // The same for `likely`.
  double Likely() const { return FromGolden(likely_); }

  friend Counted operator+(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a);
  friend Counted operator*(const Counted& a, const Counted& b);
  // a * b, the same bits but faster, for ordinary factors that are values of the step's format. The
  // step neither is exact nor flushes.
  friend Counted OrdinaryProduct(const Counted& a, const Counted& b);
  friend Counted operator/(const Counted& a, const Counted& b);
  friend Counted Sqrt(const Counted& a);
  friend Counted Exp(const Counted& a);
  friend Counted Log(const Counted& a);
  friend Counted Tanh(const Counted& a);
  friend Counted Erf(const Counted& a);
  friend Counted Erfc(const Counted& a);
  friend Counted Sigmoid(const Counted& a);  // 1 / (1 + e^-a)
  friend std::pair<Counted, Counted> CosSin(const Counted& angle);
  // The same with sine and cosine of the angle's centre, of an absolute error of at most 2^-100;
  // for centres up to kSmallAngle the sine has that as a relative error.
  friend std::pair<Counted, Counted> CosSinAround(const Counted& angle, const SineCosine& center);
  friend Counted Converted(const Counted& a);                          // to the format of the step
  friend void ConvertAll(std::span<Counted> numbers);                  // Converted, for each number
  friend Counted Power(const Counted& base, const Counted& exponent);  // base > 0
  friend Counted SumOf(std::span<const Counted> terms);
  friend Counted Clamp(const Counted& x, const Counted& low, const Counted& high);
  friend Counted Max(const Counted& a, const Counted& b);
  // Of the exact number x, not of x'. If the drift does not decide it, marks the evaluation as
  // uncertain (evaluation_context.h): then no centre of it encloses anything.
  friend double Floor(const Counted& x);
  friend Counted TwoPiOf(const Counted*);

 private:
  friend class CountedSum;
  // The result of an operation before the rounding of the step.
  struct Raw {
    DoubleDouble center;
    Bounds error;
    double drift;
    bool saturated;
    bool rounds = true;
    double limit = std::numeric_limits<double>::infinity();  // of |x'| before rounding
  };
  // Charges the rounding of the step: an error of `ulps` ulps, 0.5 for rounding to nearest. Inline
  // in counted_steps.h, as ConvertedBy, which is Converted for that rule.
  static Counted Finish(const Raw& raw, double ulps);
  static Counted ConvertedBy(const StepRule& rule, const Counted& a);
  // The product, unless a factor is 0.
  static Raw RawProduct(const Counted& a, const Counted& b);
  // Applies f to the worst-case errors of the operands, and to their likely errors.
  template <class F>
  static Bounds PropagatedBounds(const Counted& a, F f) {
    const double worst = f(a.error_);
    return {worst, a.likely_ == a.error_ ? worst : f(a.likely_)};
  }
  template <class F>
  static Bounds PropagatedBounds(const Counted& a, const Counted& b, F f) {
    const double worst = f(a.error_, b.error_);
    const bool certain = a.likely_ == a.error_ && b.likely_ == b.error_;
    return {worst, certain ? worst : f(a.likely_, b.likely_)};
  }
  void SetError(double worst, double likely) {
    error_ = worst;
    likely_ = likely;
  }
  // Bound of |x' - (high + low)| if |x' - x| <= error. A golden's high + low lies within half a
  // unit of low (UnitOfLow), at most 2^-73 |x|, of x.
  double FromGolden(double error) const {
    if (error + drift_ == 0 && !std::isnan(center_.high)) return 0;
    const double bound = (error + drift_ + std::abs(center_.high) * 0x1p-73) * kRoundUp;
    return std::isnan(bound) || !std::isfinite(center_.high) ? kInfinity : bound;
  }
  double LeastMagnitude() const {  // lower bound of |x'|
    return std::abs(center_.high) * (1 - 0x1p-50) - drift_ - error_;
  }
  // Covers the rounding errors of the bounds themselves: they are computed in double, with a few
  // operations of relative error 2^-53 each. One factor at the end covers chains of 2^20
  // operations.
  static constexpr double kRoundUp = 1 + 0x1p-30;

  DoubleDouble center_;
  double error_ = 0, likely_ = 0, drift_ = 0;
  std::optional<DType> format_;
  bool saturated_ = false;
};

// Bounds of |computed - exact| / sum of |terms| for a sum of n terms. `worst` always holds;
// `likely` holds with high probability if the roundings are independent. The rule must not be
// exact.
struct SumError {
  double worst = 0, likely = 0;
};
SumError RelativeErrorOfSum(const StepRule& rule, size_t n);

// A sum of terms that have the format of the current step.
class CountedSum {
 public:
  CountedSum() = default;
  // The state after `count` terms without drift, whose likely errors are their errors: the members
  // below.
  CountedSum(const DoubleDouble& center, double rounding, double error, double size, size_t count)
      : size_(size), rounding_(rounding), count_(count) {
    sum_.center_ = center;
    sum_.SetError(error, error);
  }
  // The state after `count` terms: `sum` has the sums of their members.
  CountedSum(const Counted& sum, double rounding, double size, size_t count)
      : sum_(sum), size_(size), rounding_(rounding), count_(count) {}
  void Add(const Counted& x);
  Counted Total() const;
  // The same for a sum whose relative error (RelativeErrorOfSum) is known. 0 if the rule is exact.
  Counted Total(const StepRule& rule, const SumError& relative) const;
  void SetTotal(const StepRule& rule, const SumError& relative, Counted& to) const;

 private:
  Counted sum_;
  double size_ = 0;      // bound of the sum of |x'| of all terms
  double rounding_ = 0;  // of the centre
  size_t count_ = 0;
};

void ConvertAll(std::span<Counted> numbers);
Counted TwoPiOf(const Counted*);
std::pair<Counted, Counted> CosSinAround(const Counted& angle, const SineCosine& center);
inline constexpr double kSmallAngle = 0x1p-6;  // in radians

// Unit of the bounds in double_double.h.
inline constexpr double kDoubleDoubleUnit = 0x1p-106;
// Absolute error that underflow inside a double-double operation can add (before a division by a
// small number).
inline constexpr double kTinyDrift = 0x1p-1060;
// Bound of the error of a double-double operation with this result, accurate to `units`.
inline double DriftOf(const DoubleDouble& center, double units) {
  return std::abs(center.high) * (units * kDoubleDoubleUnit) + kTinyDrift;
}

// Bound of the error of rounding a number to the rule's format, flushing included. The magnitude of
// the number lies between `least` and `most`.
double RoundingError(const StepRule& rule, double most, double least);

}  // namespace sextant
