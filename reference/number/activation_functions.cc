// Tanh, Erf, Erfc and Sigmoid of Interval, Counted and Rounded (of Wide: wide.cc).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/number/counted.h"
#include "reference/number/double_double_functions.h"
#include "reference/number/interval.h"
#include "reference/number/recipe.h"
#include "reference/number/rounded.h"
#include "reference/number/rounding_units.h"

namespace sextant {

namespace {

// limit - rest, for a rest that is much smaller, with as many bits of the rest as the working
// precision has: its distance from the limit is what decides how such a number is rounded. No more
// than kMostBits altogether.
Interval ShortOf(double limit, const Interval& rest) {
  constexpr int64_t kMostBits = 8192;
  const int64_t below = std::ilogb(limit) - int64_t{mpfr_get_exp(rest.upper().get())};
  const int64_t bits = mpfr_get_prec(Endpoint().get()) + std::max(int64_t{0}, below);
  const WorkingPrecision precision(static_cast<int>(std::min(bits, kMostBits)));
  return Interval(limit) - rest;
}

bool IsAbove(const Interval& a, int limit) { return mpfr_cmp_si(a.lower().get(), limit) > 0; }

// From where on functions are within 2^-40 of what they tend to; below, the bits suffice anyway.
constexpr int kFarTanh = 14, kFarErfc = 5, kFarSigmoid = 28;

}  // namespace

Interval Tanh(const Interval& a) {
  if (!a.IsSpecified()) return {};
  if (IsAbove(a, kFarTanh)) return ShortOf(1, Interval(2.0) * Sigmoid(Interval(-2.0) * a));
  if (IsAbove(-a, kFarTanh)) return -Tanh(-a);
  Interval y;
  mpfr_tanh(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_tanh(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

Interval Erf(const Interval& a) {
  if (!a.IsSpecified()) return {};
  Interval y;
  mpfr_erf(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_erf(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

Interval Erfc(const Interval& a) {
  if (!a.IsSpecified()) return {};
  if (IsAbove(-a, kFarErfc)) return ShortOf(2, Erfc(-a));
  Interval y;
  mpfr_erfc(y.lower_.get(), a.upper_.get(), MPFR_RNDD);
  mpfr_erfc(y.upper_.get(), a.lower_.get(), MPFR_RNDU);
  return y;
}

// Rounded the other way until the division: tight in both tails, since MPFR's exponents are wide.
Interval Sigmoid(const Interval& a) {
  if (!a.IsSpecified()) return {};
  if (IsAbove(a, kFarSigmoid)) return ShortOf(1, Sigmoid(-a));
  Interval y;
  const auto set = [](Endpoint& result, const Endpoint& x, mpfr_rnd_t away, mpfr_rnd_t to) {
    mpfr_neg(result.get(), x.get(), MPFR_RNDN);
    mpfr_exp(result.get(), result.get(), away);
    mpfr_add_ui(result.get(), result.get(), 1, away);
    mpfr_ui_div(result.get(), 1, result.get(), to);
  };
  set(y.lower_, a.lower_, MPFR_RNDU, MPFR_RNDD);
  set(y.upper_, a.upper_, MPFR_RNDD, MPFR_RNDU);
  return y;
}

namespace {

constexpr double kUnit = 0x1p-106;  // of double-double numbers
// What a function tends to is not rounded; nor is an honest quotient larger.
constexpr double kBelowOne = 1 - 0x1p-53;

// e^-|z| for a double z that is no farther from 0 than any of a number and of its approximations.
double Decay(double z) { return std::exp(-z) * kBoundUp; }
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

// What an error of e changes a function by, at a number within `drift` of x, if its slope falls
// with |x| and its values span `range`: the slope is that where the error brings x nearest to 0.
double Through(double e, double drift, double x, double (*slope)(double), double range) {
  if (e == 0) return 0;
  if (std::isinf(e)) return e;  // the operand may have overflowed, and be NaN by now
  const double nearest = std::max(0.0, std::abs(x) * (1 - 0x1p-50) - drift - e);
  return std::min(range, e * slope(nearest) * kBoundUp);
}

// What the parts of a function commit, beside its last rounding, at a value of at most `size`: an
// exponential accurate to the rule's ulps and one rounding, both passed on at most whole; and what
// underflow can add to each.
double ErrorOfParts(const StepRule& rule, double size) {
  if (rule.exact) return 0;
  return ((2 * rule.ulps + 1) * UnitOf(rule.format) * size + rule.ulps * LeastOf(rule)) * kBoundUp;
}

}  // namespace

// Implementations divide: with t = e^(2|x|) - 1 accurate to `ulps`, tanh |x| = t / (t + 2), whose
// error is that of t times 2 / (t + 2) <= 1, and two roundings. That covers those of C libraries,
// which claim 2 ulps.
Counted Tanh(const Counted& operand) {
  const Counted a = Converted(operand);
  if (a.IsZero()) return a;
  const DoubleDouble center = tanh(a.center_);
  const double x = a.center_.high, y = std::abs(center.high) * kBoundUp;
  const auto error = Counted::Through(a, [&](double e) {
    const double through = Through(e, a.drift_, x, TanhSlope, 2);
    return through + ErrorOfParts(CurrentRule(), y + through);
  });
  const double drift = Through(a.drift_, 0, x, TanhSlope, 2) + y * 64 * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne}, 0.5);
}

// Implementations compute 1 / (1 + e^-x), or e^x / (1 + e^x) for x < 0: an exponential accurate to
// `ulps`, whose error is passed on at most whole, and two roundings. In the first way e^-x may
// overflow, and the answer is 0. (1 + tanh(x/2)) / 2 is not covered: it has no digits left where
// the sigmoid is small.
Counted Sigmoid(const Counted& operand) {
  const Counted a = Converted(operand);
  const StepRule& rule = CurrentRule();
  const DoubleDouble center = sigmoid(a.center_);
  const double x = a.center_.high, y = center.high * kBoundUp + kTinyDrift;
  const auto error = Counted::Through(a, [&](double e) {
    const double through = Through(e, a.drift_, x, SigmoidSlope, 1);
    const bool overflows = !rule.exact && (center.high - through) * MaxFinite(rule.format) < 1.125;
    return through + std::max(ErrorOfParts(rule, y + through), overflows ? y : 0.0);
  });
  double drift = Through(a.drift_, 0, x, SigmoidSlope, 1);
  if (!a.IsZero()) drift += y * 64 * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne}, 0.5);
}

// Libraries for graphics processors claim 2 ulps (CUDA's of erff and erf): 2 are granted for each
// ulp of the recipe, of erf(a) or, in the form erf_absolute, of numbers just below 1 wherever a is.
Counted Erf(const Counted& operand) {
  const Counted a = Converted(operand);
  const StepRule& rule = CurrentRule();
  const bool absolute = rule.form == Form::kErfAbsolute && !rule.exact;
  if (a.IsZero() && !absolute) return a;
  const double claimed = 2 * rule.ulps, of_one = absolute ? claimed * UnitOf(rule.format) : 0;
  const DoubleDouble center = erf(a.center_);
  const double x = a.center_.high;
  const auto error =
      Counted::Through(a, [&](double e) { return Through(e, a.drift_, x, ErfSlope, 2) + of_one; });
  const double own = std::abs(center.high) * 256 * kUnit + kTinyDrift;
  const double drift = Through(a.drift_, 0, x, ErfSlope, 2) + own;
  return Counted::Finish({center, error, drift, a.saturated_, true, kBelowOne},
                         absolute ? 0.5 : claimed);
}

// Where it is small it is e^(-x^2) times a fraction, which no C library gets right to an ulp: glibc
// claims 5 (its manual, "Errors in Math Functions"), and 5 are granted for each ulp of the recipe.
Counted Erfc(const Counted& operand) {
  const Counted a = Converted(operand);
  const DoubleDouble center = erfc(a.center_);
  const double x = a.center_.high, size = x >= 2 ? center.high * (256 + 16 * x * x) : 512;
  const auto error =
      Counted::Through(a, [&](double e) { return Through(e, a.drift_, x, ErfSlope, 2); });
  double drift = Through(a.drift_, 0, x, ErfSlope, 2);
  if (!a.IsZero()) drift += size * kUnit + kTinyDrift;
  return Counted::Finish({center, error, drift, a.saturated_, true, 2 * kBelowOne},
                         5 * CurrentRule().ulps);
}

namespace {

// By the C library in f64, else in double-double, rounded once.
bool InDouble() { return CurrentRule().format == DType::kF64 && !CurrentRule().exact; }

}  // namespace

Rounded Tanh(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::tanh(a.value_.high)) : Rounded::Finish(tanh(a.value_));
}
Rounded Erf(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::erf(a.value_.high)) : Rounded::Finish(erf(a.value_));
}
Rounded Erfc(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::erfc(a.value_.high)) : Rounded::Finish(erfc(a.value_));
}
Rounded Sigmoid(const Rounded& operand) {
  const Rounded a = Converted(operand);
  if (!InDouble()) return Rounded::Finish(sigmoid(a.value_));
  const double x = a.value_.high, e = std::exp(-std::abs(x));
  return Rounded((x < 0 ? e : 1) / (1 + e));
}

}  // namespace sextant
