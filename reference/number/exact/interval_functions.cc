// The functions of an Interval: roots, exponentials, logarithms, powers, circular functions, and
// those of activations. Each result encloses the values of the function for every number in the
// operand. It is not specified if the operand is not.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/number/exact/interval.h"

namespace sextant {
namespace {

// The dyadic root with base = root^q, if there is one.
std::optional<double> ExactRoot(double base, int64_t q) {
  int exponent = 0;
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(base, &exponent), 53));
  exponent -= 53;
  const int shift = __builtin_ctzll(mantissa);
  mantissa >>= shift;
  exponent += shift;
  if (exponent % q != 0) return std::nullopt;
  mpz_t number;
  mpz_init_set_ui(number, mantissa);
  const bool exact = mpz_root(number, number, static_cast<unsigned long>(q)) != 0;
  const double root = std::ldexp(mpz_get_d(number), static_cast<int>(exponent / q));
  mpz_clear(number);
  return exact ? std::optional(root) : std::nullopt;
}

// limit - rest for a much smaller rest. The result has so many bits that the rest keeps the working
// precision, but at most kMostBits: the distance from the limit decides how such a number is
// rounded.
Interval ShortOf(double limit, const Interval& rest) {
  constexpr int64_t kMostBits = 8192;
  const int64_t below = std::ilogb(limit) - int64_t{mpfr_get_exp(rest.upper().get())};
  const int64_t bits = mpfr_get_prec(Endpoint().get()) + std::max(int64_t{0}, below);
  const ScopedPrecision precision(static_cast<int>(std::min(bits, kMostBits)));
  return Interval(limit) - rest;
}

bool IsAbove(const Interval& a, int limit) { return mpfr_cmp_si(a.lower().get(), limit) > 0; }

// Arguments from which on the functions are within 2^-40 of their limits. For smaller arguments the
// working precision suffices.
constexpr int kFarTanh = 14, kFarErfc = 5, kFarSigmoid = 28;

}  // namespace

Interval Sqrt(const Interval& a) {
  if (!a.IsSpecified() || IsNegative(a.upper_)) return {};
  if (IsNegative(a.lower_)) throw Undecided{};
  Interval y;
  mpfr_sqrt(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_sqrt(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

Interval Exp(const Interval& a) {
  if (!a.IsSpecified()) return {};
  Interval y;
  mpfr_exp(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_exp(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

Interval Exp2(const Interval& a) {
  if (!a.IsSpecified()) return {};
  Interval y;
  mpfr_exp2(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_exp2(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

Interval Log(const Interval& a) {
  if (!a.IsSpecified() || !IsPositive(a.upper_)) return {};
  if (!IsPositive(a.lower_)) throw Undecided{};
  Interval y;
  mpfr_log(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_log(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

// Both functions have derivatives in [-1, 1]: at a distance of at most r from m they differ from
// cos m and sin m by at most r. So one evaluation at m encloses both functions.
std::pair<Interval, Interval> CosSin(const Interval& a) {
  if (!a.IsSpecified()) return {};
  std::pair<Interval, Interval> y;
  auto& [cosine, sine] = y;
  Endpoint middle, radius, other;
  mpfr_add(middle.get(), a.lower_.get(), a.upper_.get(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
  mpfr_sub(radius.get(), a.upper_.get(), middle.get(), MPFR_RNDU);
  mpfr_sub(other.get(), middle.get(), a.lower_.get(), MPFR_RNDU);
  mpfr_max(radius.get(), radius.get(), other.get(), MPFR_RNDU);
  const int inexact = mpfr_sin_cos(sine.lower_.get(), cosine.lower_.get(), middle.get(), MPFR_RNDD);
  const auto widen = [&radius](Interval& f, bool exact) {
    mpfr_set(f.upper_.get(), f.lower_.get(), MPFR_RNDU);
    if (!exact) mpfr_nextabove(f.upper_.get());
    mpfr_add(f.upper_.get(), f.upper_.get(), radius.get(), MPFR_RNDU);
    mpfr_sub(f.lower_.get(), f.lower_.get(), radius.get(), MPFR_RNDD);
  };
  widen(sine, (inexact & 3) == 0);
  widen(cosine, (inexact >> 2) == 0);
  return y;
}

Interval EnclosePower(double base, int64_t p, int64_t q) {
  const int64_t divisor = std::gcd(p, q);
  p /= divisor;
  q /= divisor;
  if (const auto root = ExactRoot(base, q)) {
    Interval y;
    Endpoint exact;
    mpfr_set_d(exact.get(), *root, MPFR_RNDN);
    mpfr_pow_si(y.lower_.get(), exact.get(), p, MPFR_RNDD);
    mpfr_pow_si(y.upper_.get(), exact.get(), p, MPFR_RNDU);
    return y;
  }
  // Irrational: the enclosure is a point at no precision, and need not be one.
  const Interval exponent = Interval(static_cast<double>(p)) / Interval(static_cast<double>(q));
  return Exp(exponent * Log(Interval(base)));
}

Interval EnclosePower(const Interval& base, int64_t p, int64_t q) {
  const double x = mpfr_get_d(base.lower_.get(), MPFR_RNDN);
  if (base.IsPoint() && mpfr_cmp_d(base.lower_.get(), x) == 0) return EnclosePower(x, p, q);
  const Interval exponent = Interval(static_cast<double>(p)) / Interval(static_cast<double>(q));
  return Exp(exponent * Log(base));
}

// Uses binary logarithms, which are exact for powers of two.
Interval LogRatio(const Interval& a, const Interval& b) {
  const auto log2 = [](const Interval& x) {
    if (!IsPositive(x.lower_)) throw Undecided{};
    Interval y;
    mpfr_log2(y.lower_.get(), x.lower_.get(), MPFR_RNDD);
    mpfr_log2(y.upper_.get(), x.upper_.get(), MPFR_RNDU);
    return y;
  };
  return log2(a) / log2(b);
}

Interval TwoPiOf(const Interval*) {
  Interval y;
  mpfr_const_pi(y.lower_.get(), MPFR_RNDD);
  mpfr_const_pi(y.upper_.get(), MPFR_RNDU);
  mpfr_mul_2ui(y.lower_.get(), y.lower_.get(), 1, MPFR_RNDD);
  mpfr_mul_2ui(y.upper_.get(), y.upper_.get(), 1, MPFR_RNDU);
  return y;
}

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

// The divisor 1 + e^-x is rounded in the opposite direction. The enclosure is tight in both tails,
// because the exponent range of MPFR is wide.
Interval Sigmoid(const Interval& a) {
  if (!a.IsSpecified()) return {};
  if (IsAbove(a, kFarSigmoid)) return ShortOf(1, Sigmoid(-a));
  Interval y;
  const auto set = [](Endpoint& result, const Endpoint& x, mpfr_rnd_t opposite, mpfr_rnd_t to) {
    mpfr_neg(result.get(), x.get(), MPFR_RNDN);
    mpfr_exp(result.get(), result.get(), opposite);
    mpfr_add_ui(result.get(), result.get(), 1, opposite);
    mpfr_ui_div(result.get(), 1, result.get(), to);
  };
  set(y.lower_, a.lower_, MPFR_RNDU, MPFR_RNDD);
  set(y.upper_, a.upper_, MPFR_RNDD, MPFR_RNDU);
  return y;
}

}  // namespace sextant
