// The functions of a Counted: roots, exponentials, logarithms, powers, circular functions, and
// those of activations. Each charges the effect of its operand's error, and the error of an
// implementation of the function itself.
#include <algorithm>
#include <cmath>

#include "reference/number/counted/counted.h"
#include "reference/number/counted/counted_steps.h"
#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

Counted Sqrt(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const DoubleDouble center = sqrt(a.center_);
  // |sqrt x' - sqrt x| = |x' - x| / (sqrt x' + sqrt x), and never more than sqrt |x' - x|.
  const double least = a.center_.high * (1 - 0x1p-50) - a.drift_;
  const double root =
      (std::sqrt(std::max(0.0, least)) + std::sqrt(std::max(0.0, least - a.error_))) *
      (1 - 0x1p-50);
  const auto through = [root](double e) { return e == 0 ? 0 : std::min(e / root, std::sqrt(e)); };
  // The square of the root must not underflow.
  const bool in_range = a.center_.high == 0 || a.center_.high > 0x1p-900;
  const bool precise = in_range && a.IsExact() && center.low == 0 && a.center_.low == 0 &&
                       TwoProduct(center.high, center.high).high == a.center_.high &&
                       TwoProduct(center.high, center.high).low == 0;
  const double drift = through(a.drift_) + DriftOf(center, 4) + (root > 0 ? kTinyDrift / root : 0);
  return Counted::Finish(
      {center, Counted::PropagatedBounds(a, through), precise ? 0 : drift, a.saturated_}, 0.5);
}

Counted Exp(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const DoubleDouble center = exp(a.center_);
  const double y = center.high * (1 + 0x1p-50) + kTinyDrift;  // >= e^(centre of a)
  const double drifted = Expm1Of(a.drift_) * kBoundUp;
  const Counted::Bounds error = Counted::PropagatedBounds(
      a, [&](double e) { return e == 0 ? 0 : y * (1 + drifted) * Expm1Of(e) * kBoundUp; });
  const double drift = a.IsZero() ? 0 : y * drifted + DriftOf(center, 16);
  return Counted::Finish({center, error, drift, a.saturated_}, CurrentRule().ulps);
}

Counted Log(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const DoubleDouble center = log(a.center_);
  const double least = a.center_.high * (1 - 0x1p-50) - a.drift_ - a.error_;
  const auto through = [least](double e) { return e == 0 ? 0 : least > 0 ? e / least : kInfinity; };
  return Counted::Finish(
      {center, Counted::PropagatedBounds(a, through),
       a.IsExact() && a.center_ == DoubleDouble(1) ? 0 : through(a.drift_) + DriftOf(center, 40),
       a.saturated_},
      CurrentRule().ulps);
}

// base^exponent = e^(exponent ln base), so its relative error is e^d - 1 with
// d = |exponent| |ln base' - ln base| + |exponent' - exponent| |ln base'|.
Counted Power(const Counted& left, const Counted& right) {
  const Operand of_left(CurrentRule(), left), of_right(CurrentRule(), right);
  const Counted &base = *of_left, &exponent = *of_right;
  const bool saturated = base.saturated_ || exponent.saturated_;
  if (exponent.IsExact() && exponent.center_.high == 0)
    return Counted::Finish({1.0, {}, 0, saturated}, 0.5);
  const DoubleDouble logarithm = log(base.center_);
  const DoubleDouble center = exp(exponent.center_ * logarithm);
  const double least = base.center_.high * (1 - 0x1p-50) - base.drift_ - base.error_;
  const double power = exponent.Magnitude();
  const double size =
      std::abs(logarithm.high) * (1 + 0x1p-50) + (least > 0 ? base.drift_ / least : 0);
  const auto relative = [&](double base_error, double exponent_error) {
    if (!(least > 0)) return kInfinity;
    const double shift = base_error / least;
    return Expm1Of(power * shift + exponent_error * (size + shift)) * kBoundUp;
  };
  const double own = Expm1Of((power * size + 1) * 64 * kDoubleDoubleUnit) * kBoundUp;
  const double y = center.high * (1 + 0x1p-50) * (1 + own) +
                   kTinyDrift;  // >= (centre of base)^(centre of exponent)
  const double drifted = relative(base.drift_, exponent.drift_);
  const Counted::Bounds error =
      Counted::PropagatedBounds(base, exponent, [&](double of_base, double of_e) {
        const double changed = relative(of_base, of_e);
        return changed == 0 ? 0 : y * (1 + drifted) * changed;
      });
  return Counted::Finish({center, error, y * (drifted + own) + kTinyDrift, saturated},
                         CurrentRule().ulps);
}

namespace {

// 2^-21.19 and 2^-21.41, rounded up.
constexpr double kErrorOfCosf = 0x1.c1p-22, kErrorOfSinf = 0x1.82p-22;

}  // namespace

// |cos x' - cos x| <= |sin x| d + d^2/2 for d = |x' - x|, and never more than 2; sin likewise. The
// intrinsics of CUDA, which -use_fast_math selects, have documented errors in [-pi, pi] only;
// elsewhere any answer may be theirs. Source: NVIDIA, CUDA C++ Programming Guide, "Intrinsic
// Functions", table of single precision: __cosf and __sinf.
std::pair<Counted, Counted> CosSin(const Counted& angle) {
  return CosSinAround(angle, SinCos(angle.center()));
}

std::pair<Counted, Counted> CosSinAround(const Counted& angle, const SineCosine& center) {
  const Operand converted(CurrentRule(), angle);
  const Counted& a = *converted;
  const bool small = std::abs(a.center_.high) <= kSmallAngle;
  const auto through = [&a](double d, double slope) {
    if (d == 0) return 0.0;
    if (std::isinf(d)) return kInfinity;  // the angle may have overflowed: the cosine is NaN
    return std::min(2.0, (std::abs(slope) + a.drift_ + 0x1p-100) * d + d * d / 2);
  };
  const bool saturated = a.saturated_ || !(a.error_ < 2);
  const StepRule& rule = CurrentRule();
  const bool intrinsic = rule.form == Form::kCudaIntrinsic && !rule.exact;
  const bool documented = a.Magnitude() + a.error_ < 3.1415926;
  const auto make = [&](const DoubleDouble& f, const DoubleDouble& slope, double own,
                        double of_intrinsic) {
    if (!intrinsic) of_intrinsic = 0;
    if (intrinsic && !documented) of_intrinsic = kInfinity;
    return Counted::Finish({.center = f,
                            .error = Counted::PropagatedBounds(
                                a, [&](double e) { return through(e, slope.high) + of_intrinsic; }),
                            .drift = a.IsZero() ? 0 : through(a.drift_, slope.high) + own,
                            .saturated = saturated,
                            .rounds = !intrinsic,
                            .limit = 1 - 0x1p-53},  // the value 1 (cos 0) needs no rounding
                           rule.ulps);
  };
  return {
      make(center.cosine, center.sine, 0x1p-100, kErrorOfCosf),
      make(center.sine, center.cosine, small ? DriftOf(center.sine, 64) : 0x1p-100, kErrorOfSinf)};
}

// The functions below have the same steps for vectors in lane_functions.cc.
namespace {

constexpr double kUnit = kDoubleDoubleUnit;
// Largest magnitude before rounding, of functions with limit 1: the limit itself needs no rounding,
// and the quotients of a correct implementation are not larger.
constexpr double kBelowOne = 1 - 0x1p-53;

// Upper bound of e^-|t| for every t with |t| >= z >= 0.
double Decay(double z) { return ExpOf(-z) * kBoundUp; }
double TanhSlope(double z) {
  const double e = Decay(2 * z);
  return std::min(1.0, 4 * e / ((1 + e) * (1 + e)) * kBoundUp);
}
double SigmoidSlope(double z) {
  const double e = Decay(z);
  return std::min(0.25, e / ((1 + e) * (1 + e)) * kBoundUp);
}
// 2/sqrt(pi) e^(-z^2)
double ErfSlope(double z) { return 1.1283791670955126 * Decay(z * z * (1 - 0x1p-50)) * kBoundUp; }

// Bound of |f(t') - f(t)| for |t' - t| <= e, where t lies within `drift` of the centre and x is the
// high part of the centre. The slope of f decreases with the distance from 0, so it is taken at the
// point nearest to 0 that t' can reach. The values of f span `range`.
double Through(double e, double drift, double x, double (*slope)(double), double range) {
  if (e == 0) return 0;
  if (std::isinf(e)) return e;  // the operand may have overflowed: the result may be NaN
  const double nearest = std::max(0.0, std::abs(x) * (1 - 0x1p-50) - drift - e);
  return std::min(range, e * slope(nearest) * kBoundUp);
}

// Error of the intermediate results of a function whose value is at most `size`, without the last
// rounding: an exponential accurate to the rule's ulps and one rounding, both propagated with a
// factor of at most 1; plus the errors that underflow can add.
double ErrorOfParts(const StepRule& rule, double size) {
  if (rule.exact) return 0;
  return ((2 * rule.ulps + 1) * UnitRoundoffOf(rule.format) * size +
          rule.ulps * UnderflowErrorOf(rule)) *
         kBoundUp;
}

}  // namespace

// Implementations compute tanh |x| = t / (t + 2) with t = e^(2|x|) - 1 accurate to `ulps`: the
// relative error is that of t times 2 / (t + 2) <= 1, plus two roundings. This covers the tanh of C
// libraries, which claim 2 ulps.
Counted Tanh(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  if (a.IsZero()) return Converted(operand);
  const DoubleDouble center = tanh(a.center_);
  const double x = a.center_.high, y = std::abs(center.high) * kBoundUp;
  const auto error = Counted::PropagatedBounds(a, [&](double e) {
    const double through = Through(e, a.drift_, x, TanhSlope, 2);
    return through + ErrorOfParts(CurrentRule(), y + through);
  });
  const double drift = Through(a.drift_, 0, x, TanhSlope, 2) + y * 64 * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne}, 0.5);
}

// Implementations compute 1 / (1 + e^-x), or e^x / (1 + e^x) for x < 0: an exponential accurate to
// `ulps`, whose error is propagated with a factor of at most 1, and two roundings. In the first
// form e^-x may overflow, and the answer is 0. (1 + tanh(x/2)) / 2 is not covered: it has no
// correct digits where the sigmoid is small.
Counted Sigmoid(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const StepRule& rule = CurrentRule();
  const DoubleDouble center = sigmoid(a.center_);
  const double x = a.center_.high, y = center.high * kBoundUp + kTinyDrift;
  const auto error = Counted::PropagatedBounds(a, [&](double e) {
    const double through = Through(e, a.drift_, x, SigmoidSlope, 1);
    const bool overflows = !rule.exact && (center.high - through) * MaxFinite(rule.format) < 1.125;
    return through + std::max(ErrorOfParts(rule, y + through), overflows ? y : 0.0);
  });
  double drift = Through(a.drift_, 0, x, SigmoidSlope, 1);
  if (!a.IsZero()) drift += y * 64 * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne}, 0.5);
}

// GPU libraries claim 2 ulps (CUDA, for erff and erf), so 2 ulps are granted for each ulp of the
// recipe: ulps of erf(a), or, in the form erf_absolute, ulps of numbers just below 1 for every a.
Counted Erf(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const StepRule& rule = CurrentRule();
  const bool absolute = rule.form == Form::kErfAbsolute && !rule.exact;
  if (a.IsZero() && !absolute) return Converted(operand);
  const double claimed = 2 * rule.ulps,
               of_one = absolute ? claimed * UnitRoundoffOf(rule.format) : 0;
  const DoubleDouble center = erf(a.center_);
  const double x = a.center_.high;
  const auto error = Counted::PropagatedBounds(
      a, [&](double e) { return Through(e, a.drift_, x, ErfSlope, 2) + of_one; });
  const double own = std::abs(center.high) * 256 * kUnit + kTinyDrift;
  const double drift = Through(a.drift_, 0, x, ErfSlope, 2) + own;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne},
                         absolute ? 0.5 : claimed);
}

// Where erfc is small it is e^(-x^2) times a fraction, and no C library is accurate to one ulp:
// glibc claims 5 ulps (its manual, "Errors in Math Functions"), so 5 are granted for each ulp of
// the recipe.
Counted Erfc(const Counted& operand) {
  const Operand converted(CurrentRule(), operand);
  const Counted& a = *converted;
  const DoubleDouble center = erfc(a.center_);
  const double x = a.center_.high, size = x >= 2 ? center.high * (256 + 16 * x * x) : 512;
  const auto error =
      Counted::PropagatedBounds(a, [&](double e) { return Through(e, a.drift_, x, ErfSlope, 2); });
  double drift = Through(a.drift_, 0, x, ErfSlope, 2);
  if (!a.IsZero()) drift += size * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, 2 * kBelowOne},
                         5 * CurrentRule().ulps);
}

}  // namespace sextant
