#include "reference/number/interval.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "reference/number/rounded.h"

namespace sextant {
namespace {

thread_local int working_bits = 192;

void Multiply(const Endpoint& a, const Endpoint& b, Endpoint& out, mpfr_rnd_t rounding) {
  mpfr_mul(out.get(), a.get(), b.get(), rounding);
}

bool IsNegative(const Endpoint& x) { return mpfr_sgn(x.get()) < 0; }
bool IsPositive(const Endpoint& x) { return mpfr_sgn(x.get()) > 0; }

// high = RN64(x) and low = RN64(x - high) of a number of three limbs, from its bits: what nearly
// every proof of a tensor asks for. Empty for other numbers, and for those near the ends of double.
struct Halves {
  double high, low;
  bool operator==(const Halves&) const = default;
};
std::optional<Halves> SplitThreeLimbs(const Endpoint& x) {
  static_assert(GMP_NUMB_BITS == 64);
  const mpfr_prec_t bits = mpfr_get_prec(x.get());
  if (bits <= 128 || bits > 192 || !mpfr_regular_p(x.get())) return std::nullopt;
  const mpfr_exp_t exponent = mpfr_get_exp(x.get());  // x = +- 0.limbs 2^exponent
  if (exponent < -700 || exponent > 1000) return std::nullopt;
  const auto* limbs = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(x.get()));
  // The leading 53 bits, and the 139 behind them as `top` 2^128 + `tail`.
  uint64_t leading = limbs[2] >> 11, top = limbs[2] & 0x7FF;
  unsigned __int128 tail = static_cast<unsigned __int128>(limbs[1]) << 64 | limbs[0];
  const bool above_half = top > 0x400 || (top == 0x400 && tail != 0);
  const bool up = above_half || (top == 0x400 && (leading & 1));
  if (up) {  // the rest is what is missing: 2^139 less what is there
    ++leading;
    top = 0x800 - top - (tail != 0);
    tail = -tail;
  }
  const double sign = mpfr_signbit(x.get()) ? -1 : 1;
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(exponent - 53 + 1023) << 52);
  double rest = static_cast<double>(tail) * 0x1p-139;
  if (top != 0) {  // 11 bits less, the last one marking them: the conversion rounds far above it
    const bool cut = (tail & 0x7FF) != 0;
    rest = static_cast<double>(static_cast<unsigned __int128>(top) << 117 | tail >> 11 | cut) *
           0x1p-128;
  }
  return Halves{sign * static_cast<double>(leading) * unit, sign * (up ? -rest : rest) * unit};
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

// The exponents too are as wide as MPFR has them: xPos grows beyond 2^(2^30), its default.
WorkingPrecision::WorkingPrecision(int bits) : previous_(working_bits) {
  working_bits = bits;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}
WorkingPrecision::~WorkingPrecision() { working_bits = previous_; }

Endpoint::Endpoint() {
  if (working_bits <= kInlineBits) {
    mpfr_custom_init(limbs_, working_bits);
    mpfr_custom_init_set(&number_, MPFR_NAN_KIND, 0, working_bits, limbs_);
  } else {
    mpfr_init2(&number_, working_bits);
  }
}
void Endpoint::CopyLong(const Endpoint& other) {
  mpfr_init2(&number_, mpfr_get_prec(&other.number_));
  mpfr_set(&number_, &other.number_, MPFR_RNDN);  // same precision: exact
}

Interval::Interval(double x) {
  mpfr_set_d(lower_.get(), x, MPFR_RNDD);
  mpfr_set_d(upper_.get(), x, MPFR_RNDU);
}

bool Interval::IsSpecified() const {
  const auto finite = [](mpfr_srcptr x) { return !mpfr_nan_p(x) && !mpfr_inf_p(x); };  // inlined
  return finite(lower_.get()) && finite(upper_.get());
}
bool Interval::IsPoint() const { return mpfr_equal_p(lower_.get(), upper_.get()); }
bool Interval::IsOne() const {
  return mpfr_regular_p(lower_.get()) && mpfr_get_exp(lower_.get()) == 1 &&
         mpfr_cmp_ui(lower_.get(), 1) == 0 && IsPoint();
}

namespace {

// Operands may have more bits than the working precision: a number that lies extremely near another
// (activation_functions.cc). What is made of them keeps as many.
bool HasMoreBits(const Interval& a) {
  return std::max(mpfr_get_prec(a.lower().get()), mpfr_get_prec(a.upper().get())) > working_bits;
}
template <class Operation>
Interval InTheirBits(const Interval& a, const Interval& b, Operation operation) {
  mpfr_prec_t bits = 0;
  for (const Endpoint* end : {&a.lower(), &a.upper(), &b.lower(), &b.upper()})
    bits = std::max(bits, mpfr_get_prec(end->get()));
  const WorkingPrecision precision(static_cast<int>(bits));
  return operation(a, b);
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
  if (HasMoreBits(a) || HasMoreBits(b)) return InTheirBits(a, b, std::plus<>());
  Interval y;
  mpfr_add(y.lower_.get(), a.lower_.get(), b.lower_.get(), MPFR_RNDD);
  mpfr_add(y.upper_.get(), a.upper_.get(), b.upper_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a, const Interval& b) {
  if (HasMoreBits(a) || HasMoreBits(b)) return InTheirBits(a, b, std::minus<>());
  Interval y;
  mpfr_sub(y.lower_.get(), a.lower_.get(), b.upper_.get(), MPFR_RNDD);
  mpfr_sub(y.upper_.get(), a.upper_.get(), b.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a) {
  if (HasMoreBits(a)) return InTheirBits(a, a, [](const Interval& x, auto&) { return -x; });
  Interval y;
  mpfr_neg(y.lower_.get(), a.upper_.get(), MPFR_RNDD);
  mpfr_neg(y.upper_.get(), a.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator*(const Interval& a, const Interval& b) {
  if (!a.IsSpecified() || !b.IsSpecified()) return {};
  if (b.IsOne()) return a;  // the amplitude of most tables
  if (HasMoreBits(a) || HasMoreBits(b)) return InTheirBits(a, b, std::multiplies<>());
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
  if (HasMoreBits(a) || HasMoreBits(b)) return InTheirBits(a, b, std::divides<>());
  if (IsNegative(b.upper_)) return -a / -b;
  Interval y;  // b > 0: each bound of a is divided by the bound of b that moves it outward
  mpfr_div(y.lower_.get(), a.lower_.get(), (IsNegative(a.lower_) ? b.lower_ : b.upper_).get(),
           MPFR_RNDD);
  mpfr_div(y.upper_.get(), a.upper_.get(), (IsPositive(a.upper_) ? b.lower_ : b.upper_).get(),
           MPFR_RNDU);
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

Interval EnclosePower(const Interval& base, int64_t p, int64_t q) {
  const double x = mpfr_get_d(base.lower_.get(), MPFR_RNDN);
  if (base.IsPoint() && mpfr_cmp_d(base.lower_.get(), x) == 0) return EnclosePower(x, p, q);
  const Interval exponent = Interval(static_cast<double>(p)) / Interval(static_cast<double>(q));
  return Exp(exponent * Log(base));
}

double Floor(const Interval& a) {
  Endpoint below, above;
  mpfr_floor(below.get(), a.lower_.get());
  mpfr_floor(above.get(), a.upper_.get());
  if (!mpfr_equal_p(below.get(), above.get())) throw Undecided{};
  return mpfr_get_d(below.get(), MPFR_RNDN);
}

// By binary logarithms, which are exact for powers of two.
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

std::optional<Decision> Decide(const Interval& x, DType type) {
  const auto below = SplitThreeLimbs(x.lower()), above = SplitThreeLimbs(x.upper());
  if (below && above) {
    if (*below != *above) return std::nullopt;
    return Decision{RoundTo(type, DoubleDouble{below->high, below->low}) + 0.0, below->high,
                    below->low};
  }
  const double high = mpfr_get_d(x.lower().get(), MPFR_RNDN);
  if (high != mpfr_get_d(x.upper().get(), MPFR_RNDN)) return std::nullopt;
  if (std::isinf(high)) return Decision{high, high, 0};
  Endpoint least, most;  // of x - high
  mpfr_sub_d(least.get(), x.lower().get(), high, MPFR_RNDD);
  mpfr_sub_d(most.get(), x.upper().get(), high, MPFR_RNDU);
  const double low = mpfr_get_d(least.get(), MPFR_RNDN);
  if (low != mpfr_get_d(most.get(), MPFR_RNDN)) return std::nullopt;
  // On which side of high x lies matters even where the difference is less than every double.
  const auto value = [&](const Endpoint& rest) {
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    return RoundTo(type, DoubleDouble{high, low != 0 ? low : mpfr_sgn(rest.get()) * kLeast});
  };
  if (value(least) != value(most)) return std::nullopt;
  return Decision{value(least) + 0.0, high + 0.0, low + 0.0};  // -0 becomes +0
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
