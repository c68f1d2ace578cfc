#include "reference/interval.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace sextant {
namespace {

thread_local int working_bits = 192;

// a * b into `out`, the products of the endpoints that are the extremes.
void Multiply(const Endpoint& a, const Endpoint& b, Endpoint& out, mpfr_rnd_t rounding) {
  mpfr_mul(out.get(), a.get(), b.get(), rounding);
}

bool IsNegative(const Endpoint& x) { return mpfr_sgn(x.get()) < 0; }
bool IsPositive(const Endpoint& x) { return mpfr_sgn(x.get()) > 0; }

// x to double, toward zero, the last bit set if anything was cut off ("round to odd"): rounding
// that to a format of at most 51 bits gives the correct rounding of x. Source: Boldo and
// Melquiond 2008, "Emulation of a FMA and correctly rounded sums", theorem 3.
double RoundToOdd(const Endpoint& x) {
  const double cut = mpfr_get_d(x.get(), MPFR_RNDZ);
  if (mpfr_cmp_d(x.get(), cut) == 0) return cut;
  const double out = std::nextafter(cut, IsNegative(x) ? -INFINITY : INFINITY);
  return (EncodeBits(DType::kF64, cut) & 1) ? cut : (std::isinf(out) ? cut : out);
}

double Nearest(const Endpoint& x, DType type) {
  return type == DType::kF64 ? mpfr_get_d(x.get(), MPFR_RNDN) : RoundTo(type, RoundToOdd(x));
}

// base = root^q for a dyadic root, if there is one.
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

}  // namespace

WorkingPrecision::WorkingPrecision(int bits) : previous_(working_bits) { working_bits = bits; }
WorkingPrecision::~WorkingPrecision() { working_bits = previous_; }

void Endpoint::Allocate(mpfr_prec_t bits) {
  if (bits <= kInlineBits) {
    mpfr_custom_init(limbs_, bits);
    mpfr_custom_init_set(&number_, MPFR_NAN_KIND, 0, bits, limbs_);
  } else {
    mpfr_init2(&number_, bits);
  }
}
void Endpoint::Free() {
  if (mpfr_get_prec(&number_) > kInlineBits) mpfr_clear(&number_);
}
Endpoint::Endpoint() { Allocate(working_bits); }
Endpoint::Endpoint(const Endpoint& other) {
  Allocate(mpfr_get_prec(&other.number_));
  mpfr_set(&number_, &other.number_, MPFR_RNDN);  // same precision: exact
}
Endpoint& Endpoint::operator=(const Endpoint& other) {
  if (this == &other) return *this;
  if (mpfr_get_prec(&number_) != mpfr_get_prec(&other.number_)) {
    Free();
    Allocate(mpfr_get_prec(&other.number_));
  }
  mpfr_set(&number_, &other.number_, MPFR_RNDN);
  return *this;
}
Endpoint::~Endpoint() { Free(); }

Interval::Interval(double x) {
  mpfr_set_d(lower_.get(), x, MPFR_RNDD);
  mpfr_set_d(upper_.get(), x, MPFR_RNDU);
}

bool Interval::IsSpecified() const {
  return mpfr_number_p(lower_.get()) && mpfr_number_p(upper_.get());
}
bool Interval::IsPoint() const { return mpfr_equal_p(lower_.get(), upper_.get()); }

Interval operator+(const Interval& a, const Interval& b) {
  Interval y;
  mpfr_add(y.lower_.get(), a.lower_.get(), b.lower_.get(), MPFR_RNDD);
  mpfr_add(y.upper_.get(), a.upper_.get(), b.upper_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a, const Interval& b) {
  Interval y;
  mpfr_sub(y.lower_.get(), a.lower_.get(), b.upper_.get(), MPFR_RNDD);
  mpfr_sub(y.upper_.get(), a.upper_.get(), b.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a) {
  Interval y;
  mpfr_neg(y.lower_.get(), a.upper_.get(), MPFR_RNDD);
  mpfr_neg(y.upper_.get(), a.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator*(const Interval& a, const Interval& b) {
  if (!a.IsSpecified() || !b.IsSpecified()) return {};
  const bool a_crosses = IsNegative(a.lower_) && IsPositive(a.upper_);
  const bool b_crosses = IsNegative(b.lower_) && IsPositive(b.upper_);
  Interval y;
  if (a_crosses && b_crosses) {
    Endpoint other;
    Multiply(a.lower_, b.upper_, y.lower_, MPFR_RNDD);
    Multiply(a.upper_, b.lower_, other, MPFR_RNDD);
    mpfr_min(y.lower_.get(), y.lower_.get(), other.get(), MPFR_RNDD);
    Multiply(a.lower_, b.lower_, y.upper_, MPFR_RNDU);
    Multiply(a.upper_, b.upper_, other, MPFR_RNDU);
    mpfr_max(y.upper_.get(), y.upper_.get(), other.get(), MPFR_RNDU);
    return y;
  }
  if (a_crosses) return b * a;  // at most b crosses from here on
  const bool a_negative = IsNegative(a.lower_) || IsNegative(a.upper_);
  const bool b_negative = !b_crosses && (IsNegative(b.lower_) || IsNegative(b.upper_));
  // Which endpoint of a meets the lower and which the upper one of b.
  const Endpoint& small = a_negative ? a.upper_ : a.lower_;  // the smaller magnitude of a
  const Endpoint& large = a_negative ? a.lower_ : a.upper_;
  const Endpoint& to_low = a_negative ? b.upper_ : b.lower_;
  const Endpoint& to_high = a_negative ? b.lower_ : b.upper_;
  if (b_crosses) {
    Multiply(large, to_low, y.lower_, MPFR_RNDD);
    Multiply(large, to_high, y.upper_, MPFR_RNDU);
  } else {
    const bool negative = a_negative != b_negative;
    Multiply(negative ? large : small, to_low, y.lower_, MPFR_RNDD);
    Multiply(negative ? small : large, to_high, y.upper_, MPFR_RNDU);
  }
  return y;
}

Interval operator/(const Interval& a, const Interval& b) {
  if (!a.IsSpecified() || !b.IsSpecified()) return {};
  if (mpfr_zero_p(b.lower_.get()) && mpfr_zero_p(b.upper_.get())) return {};
  if (!IsPositive(b.lower_) && !IsNegative(b.upper_)) throw Undecided{};
  if (IsNegative(b.upper_)) return -a / -b;
  Interval y;  // b > 0: each bound of a is divided by the bound of b that moves it outward
  mpfr_div(y.lower_.get(), a.lower_.get(), (IsNegative(a.lower_) ? b.lower_ : b.upper_).get(), MPFR_RNDD);
  mpfr_div(y.upper_.get(), a.upper_.get(), (IsPositive(a.upper_) ? b.lower_ : b.upper_).get(), MPFR_RNDU);
  return y;
}

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

Interval Log(const Interval& a) {
  if (!a.IsSpecified() || !IsPositive(a.upper_)) return {};
  if (!IsPositive(a.lower_)) throw Undecided{};
  Interval y;
  mpfr_log(y.lower_.get(), a.lower_.get(), MPFR_RNDD);
  mpfr_log(y.upper_.get(), a.upper_.get(), MPFR_RNDU);
  return y;
}

// Both functions have derivatives within [-1, 1]: at a distance of at most r from m they differ
// from cos m and sin m by at most r. So one evaluation serves both ends of both.
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

bool Less(const Interval& a, const Interval& b) {
  if (mpfr_less_p(a.upper_.get(), b.lower_.get())) return true;
  if (mpfr_greaterequal_p(a.lower_.get(), b.upper_.get())) return false;
  throw Undecided{};
}

Interval EnclosePower(double base, int64_t p, int64_t q) {
  const int64_t divisor = std::gcd(p, q);
  p /= divisor;
  q /= divisor;
  if (p == 0) return Interval(1);
  if (const auto root = ExactRoot(base, q)) {
    Interval y;
    Endpoint exact;
    mpfr_set_d(exact.get(), *root, MPFR_RNDN);
    mpfr_pow_si(y.lower_.get(), exact.get(), p, MPFR_RNDD);
    mpfr_pow_si(y.upper_.get(), exact.get(), p, MPFR_RNDU);
    return y;
  }
  // Irrational: no precision would make the enclosure a point, and none needs to.
  const Interval exponent = Interval(static_cast<double>(p)) / Interval(static_cast<double>(q));
  return Exp(exponent * Log(Interval(base)));
}

Interval TwoPiOf(const Interval*) {
  Interval y;
  mpfr_const_pi(y.lower_.get(), MPFR_RNDD);
  mpfr_const_pi(y.upper_.get(), MPFR_RNDU);
  mpfr_mul_2ui(y.lower_.get(), y.lower_.get(), 1, MPFR_RNDD);
  mpfr_mul_2ui(y.upper_.get(), y.upper_.get(), 1, MPFR_RNDU);
  return y;
}

std::optional<Decision> Decide(const Interval& x, DType type) {
  const double value = Nearest(x.lower(), type), high = mpfr_get_d(x.lower().get(), MPFR_RNDN);
  if (value != Nearest(x.upper(), type) || high != mpfr_get_d(x.upper().get(), MPFR_RNDN)) {
    return std::nullopt;
  }
  if (std::isinf(high)) return Decision{value, high, 0};
  Endpoint rest;
  mpfr_sub_d(rest.get(), x.lower().get(), high, MPFR_RNDD);
  const double low = mpfr_get_d(rest.get(), MPFR_RNDN);
  mpfr_sub_d(rest.get(), x.upper().get(), high, MPFR_RNDU);
  if (low != mpfr_get_d(rest.get(), MPFR_RNDN)) return std::nullopt;
  return Decision{value + 0.0, high + 0.0, low + 0.0};  // -0 becomes +0
}

double RadiusAround(const Interval& x, double high, double low) {
  Endpoint below, above;
  mpfr_sub_d(above.get(), x.upper().get(), high, MPFR_RNDU);
  mpfr_sub_d(above.get(), above.get(), low, MPFR_RNDU);
  mpfr_sub_d(below.get(), x.lower().get(), high, MPFR_RNDD);
  mpfr_sub_d(below.get(), below.get(), low, MPFR_RNDD);
  mpfr_neg(below.get(), below.get(), MPFR_RNDU);
  return std::max({0.0, mpfr_get_d(above.get(), MPFR_RNDU), mpfr_get_d(below.get(), MPFR_RNDU)});
}

double Middle(const Interval& x) {
  Endpoint middle;
  mpfr_add(middle.get(), x.lower().get(), x.upper().get(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
  return mpfr_get_d(middle.get(), MPFR_RNDN);
}

}  // namespace sextant
