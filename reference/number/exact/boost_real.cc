#include "reference/number/exact/boost_real.h"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "reference/number/exact/boost_real_error.h"

namespace sextant {

namespace mp = boost::multiprecision;
using Float = mp::number<mp::cpp_bin_float<100>, mp::et_off>;
using Bound = long double;

struct BoostReal::Number {
  Float value;
  Bound error = 0;  // ErrorOf
};

namespace {

constexpr int kBits = 334;
static_assert(std::numeric_limits<Float>::digits >= kBits);
constexpr Bound kRounding = 0x1p-334L;  // relative error of + - * / (boost_real_error.h)
constexpr Bound kFunction = 0x1p-300L;  // error of functions (boost_real_error.h)
constexpr Bound kUnbounded = std::numeric_limits<Bound>::infinity();

// Upper bound of |x|, at most twice as large.
Bound MagnitudeOf(const Float& x) {
  if (x == 0) return 0;
  if (!(mp::isfinite)(x)) return kUnbounded;
  return std::max(std::ldexp(Bound{1}, x.backend().exponent() + 1),
                  std::numeric_limits<Bound>::min());
}
// Lower bound of |x|, at least half as large, or 0 if that is below every long double.
Bound FloorOf(const Float& x) {
  if (x == 0) return 0;
  if (!(mp::isfinite)(x)) return kUnbounded;
  return std::ldexp(Bound{1}, x.backend().exponent());
}

// Rounds the bound up: 2^-60 covers more than ten roundings of a long double, and underflow loses
// less than the smallest normal number.
BoostReal Make(const Float& value, Bound error) {
  error = error * (1 + 0x1p-60L) + (error > 0 ? std::numeric_limits<Bound>::min() : 0);
  if (std::isnan(error)) error = kUnbounded;
  return BoostReal(std::make_shared<const BoostReal::Number>(BoostReal::Number{value, error}));
}

// Bound of the relative change of a function, if the error of its argument changes the value by a
// factor e^x with |x| <= exponent: e^x - 1 <= 2 x for x <= 1.
Bound Growth(Bound exponent) { return exponent <= 1 ? 2 * exponent : kUnbounded; }

const Float& ValueOf(const BoostReal& x) { return x.number().value; }

// Boost 1.74 initializes constants of its functions at their first use (for example
// numeric_limits<>::epsilon() in the logarithm), and marks them as initialized too early: if two
// threads use one at the same time, a thread may read 0 for epsilon or for NaN. So every function
// is called once before threads start, with an infinity too.
const bool kInitialized = [] {
  const Float one = 1, half = one / 2;
  for (const Float& x : {one, half, std::numeric_limits<Float>::infinity()}) {
    mp::pow(mp::log(mp::exp(x) + mp::tanh(x)), mp::sqrt(x));
    mp::sin(x) + mp::cos(x) + boost::math::erf(x) + boost::math::erfc(x) + mp::floor(x);
  }
  return boost::math::constants::pi<Float>() > 3;
}();

}  // namespace

long double ErrorOf(const BoostReal& x) { return x.number().error; }

long double DistanceOf(const BoostReal& x, double high, double low) {
  return mp::abs(ValueOf(x) - high - low).convert_to<long double>();
}

BoostReal::BoostReal(double x) : number_(std::make_shared<const Number>(Number{Float(x)})) {}

double BoostReal::High() const { return number_->value.convert_to<double>(); }
double BoostReal::Distance(double high, double low) const {
  return mp::abs(number_->value - high - low).convert_to<double>();
}

BoostReal operator+(const BoostReal& a, const BoostReal& b) {
  const Float sum = ValueOf(a) + ValueOf(b);
  return Make(sum, ErrorOf(a) + ErrorOf(b) + kRounding * MagnitudeOf(sum));
}
BoostReal operator-(const BoostReal& a, const BoostReal& b) {
  const Float difference = ValueOf(a) - ValueOf(b);
  return Make(difference, ErrorOf(a) + ErrorOf(b) + kRounding * MagnitudeOf(difference));
}
BoostReal operator-(const BoostReal& a) { return Make(-ValueOf(a), ErrorOf(a)); }
BoostReal operator*(const BoostReal& a, const BoostReal& b) {
  const Float product = ValueOf(a) * ValueOf(b);
  Bound error = kRounding * MagnitudeOf(product);
  if (ErrorOf(b) > 0) error += (MagnitudeOf(ValueOf(a)) + ErrorOf(a)) * ErrorOf(b);
  if (ErrorOf(a) > 0) error += MagnitudeOf(ValueOf(b)) * ErrorOf(a);
  return Make(product, error);
}
// a'/b' - a/b = ((a' - a) - (a'/b') (b' - b)) / b.
BoostReal operator/(const BoostReal& a, const BoostReal& b) {
  const Float quotient = ValueOf(a) / ValueOf(b);
  const Bound least = FloorOf(ValueOf(b)) - ErrorOf(b);
  if (!(least > 0)) return Make(quotient, kUnbounded);
  const Bound size = MagnitudeOf(quotient);
  return Make(quotient, (ErrorOf(a) + size * ErrorOf(b)) / least + kRounding * size);
}
// |√a' - √a| = |a' - a| / (√a' + √a), and at most √|a' - a|.
BoostReal Sqrt(const BoostReal& a) {
  const Float root = mp::sqrt(ValueOf(a));
  Bound propagated = 0;
  if (ErrorOf(a) > 0) {
    propagated = std::sqrt(ErrorOf(a));
    if (root > 0) propagated = std::min(propagated, ErrorOf(a) / FloorOf(root));
  }
  return Make(root, propagated + kFunction * MagnitudeOf(root));
}
BoostReal Exp(const BoostReal& a) {
  const Float result = mp::exp(ValueOf(a));
  const Bound own = kFunction * (1 + MagnitudeOf(ValueOf(a)));
  return Make(result, MagnitudeOf(result) * (Growth(ErrorOf(a)) + own));
}
// As Exp: 2^x = e^(x ln 2) and ln 2 < 1.
BoostReal Exp2(const BoostReal& a) {
  const Float result = mp::pow(Float(2), ValueOf(a));
  const Bound own = kFunction * (1 + MagnitudeOf(ValueOf(a)));
  return Make(result, MagnitudeOf(result) * (Growth(ErrorOf(a)) + own));
}
// The derivative is 1/x, largest at the smaller end.
BoostReal Log(const BoostReal& a) {
  const Float result = mp::log(ValueOf(a));
  const Bound least = FloorOf(ValueOf(a)) - ErrorOf(a);
  const Bound propagated = least > 0 ? ErrorOf(a) / least : kUnbounded;
  return Make(result, propagated + kFunction * (1 + MagnitudeOf(result)));
}
// The derivative of tanh is at most 1, that of erf 2/√π < 2.
BoostReal Tanh(const BoostReal& a) {
  const Float result = mp::tanh(ValueOf(a));
  return Make(result, ErrorOf(a) + kFunction * MagnitudeOf(result));
}
BoostReal Erf(const BoostReal& a) {
  const Float result = boost::math::erf(ValueOf(a));
  return Make(result, 2 * ErrorOf(a) + kFunction * MagnitudeOf(result));
}
// -erfc'(x) / erfc(x) < x + √(x² + 2) <= 2 |x| + 2 (Abramowitz and Stegun, 7.1.13) where x >= 0,
// and below 2/√π where x < 0. Implementations compute e^(-x²), whose relative error grows with x².
BoostReal Erfc(const BoostReal& a) {
  const Float result = boost::math::erfc(ValueOf(a));
  const Bound size = MagnitudeOf(ValueOf(a));
  const Bound propagated = Growth(ErrorOf(a) * (2 * (size + ErrorOf(a)) + 2));
  return Make(result, MagnitudeOf(result) * (propagated + kFunction * (1 + size * size)));
}
// The derivative of ln(1 / (1 + e^-x)) lies between 0 and 1.
BoostReal Sigmoid(const BoostReal& a) {
  const Float result = 1 / (1 + mp::exp(-ValueOf(a)));
  const Bound own = kFunction * (1 + MagnitudeOf(ValueOf(a)));
  return Make(result, MagnitudeOf(result) * (Growth(ErrorOf(a)) + own));
}
// Implementations subtract a multiple of pi/2 from the angle, with an error relative to the angle.
// The sine of a small angle has a small relative error.
std::pair<BoostReal, BoostReal> CosSin(const BoostReal& angle) {
  const Bound size = MagnitudeOf(ValueOf(angle));
  return {Make(mp::cos(ValueOf(angle)), ErrorOf(angle) + kFunction * (1 + size)),
          Make(mp::sin(ValueOf(angle)), ErrorOf(angle) + kFunction * 2 * size)};
}
// x^y = e^(y ln x): the errors of y and of ln x change the exponent.
BoostReal Power(const BoostReal& base, const BoostReal& exponent) {
  const Float result = mp::pow(ValueOf(base), ValueOf(exponent));
  const Bound least = FloorOf(ValueOf(base)) - ErrorOf(base);
  if (!(least > 0)) return Make(result, kUnbounded);
  const Bound logarithm = std::abs(static_cast<Bound>(ValueOf(base).backend().exponent())) + 1;
  const Bound size = MagnitudeOf(ValueOf(exponent)) + ErrorOf(exponent);
  const Bound propagated = size * ErrorOf(base) / least + logarithm * ErrorOf(exponent);
  const Bound own = kFunction * (1 + size * logarithm);
  return Make(result, MagnitudeOf(result) * (Growth(propagated) + own));
}
bool Less(const BoostReal& a, const BoostReal& b) { return ValueOf(a) < ValueOf(b); }
// Formulas take floors only of logarithms that contain pi, which are not integers.
double Floor(const BoostReal& a) { return mp::floor(ValueOf(a)).convert_to<double>(); }
BoostReal TwoPiOf(const BoostReal*) {
  const Float two_pi = 2 * boost::math::constants::pi<Float>();
  return Make(two_pi, kFunction * MagnitudeOf(two_pi));
}

}  // namespace sextant
