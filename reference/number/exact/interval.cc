#include "reference/number/exact/interval.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

void Multiply(const Endpoint& a, const Endpoint& b, Endpoint& out, mpfr_rnd_t rounding) {
  mpfr_mul(out.get(), a.get(), b.get(), rounding);
}

// A number split for a Decision; `side` is the sign of x - high.
struct Parts {
  double high, low;
  int side;
};
// Splits a number of three limbs, computed from its bits: the fast path of nearly every proof.
// Empty for other numbers, and for numbers near the limits of double.
std::optional<Parts> SplitThreeLimbs(const Endpoint& x) {
  static_assert(GMP_NUMB_BITS == 64);
  using Wide = unsigned __int128;
  const mpfr_prec_t bits = mpfr_get_prec(x.get());
  if (bits <= 128 || bits > 192 || !mpfr_regular_p(x.get())) return std::nullopt;
  const mpfr_exp_t exponent = mpfr_get_exp(x.get());  // x = +- 0.limbs 2^exponent
  if (exponent < -700 || exponent > 1000) return std::nullopt;
  const auto* limbs = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(x.get()));
  // The leading 53 bits, and the other 139 bits as `top` 2^128 + `tail`.
  uint64_t leading = limbs[2] >> 11, top = limbs[2] & 0x7FF;
  Wide tail = static_cast<Wide>(limbs[1]) << 64 | limbs[0];
  const bool above_half = top > 0x400 || (top == 0x400 && tail != 0);
  const bool up = above_half || (top == 0x400 && (leading & 1));
  if (up) {  // |high| > |x|: the rest becomes 2^139 - rest, with the opposite sign
    ++leading;
    top = 0x800 - top - (tail != 0);
    tail = -tail;
  }
  // The unit of `low` is 2^-20 units of the leading bits, or 2^-19 if `high` became a power of two.
  const int cut = leading == uint64_t{1} << 53 ? 120 : 119;  // bits of `tail` below it
  uint64_t units = top << (128 - cut) | static_cast<uint64_t>(tail >> cut);
  const Wide dropped = tail & ((Wide{1} << cut) - 1), half = Wide{1} << (cut - 1);
  units += dropped > half || (dropped == half && (units & 1));
  const int sign = mpfr_signbit(x.get()) ? -1 : 1, away = up ? -sign : sign;
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(exponent - 53 + 1023) << 52);
  const double low_unit = unit * (cut == 120 ? 0x1p-19 : 0x1p-20);
  return Parts{sign * static_cast<double>(leading) * unit,
               away * static_cast<double>(units) * low_unit, top != 0 || tail != 0 ? away : 0};
}

}  // namespace

ScopedPrecision::ScopedPrecision(int bits) : precision_(bits) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

Endpoint::Endpoint() {
  const int bits = this_context.precision;
  if (bits <= kInlineBits) {
    mpfr_custom_init(limbs_, bits);
    mpfr_custom_init_set(&number_, MPFR_NAN_KIND, 0, bits, limbs_);
  } else {
    mpfr_init2(&number_, bits);
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

// Operands may have more bits than the working precision, if they lie extremely near the limit of a
// function (interval_functions.cc). Their results keep as many bits.
bool HasMoreBits(const Interval& a) {
  return std::max(mpfr_get_prec(a.lower().get()), mpfr_get_prec(a.upper().get())) >
         this_context.precision;
}
template <class Operation>
Interval AtPrecisionOf(const Interval& a, const Interval& b, Operation operation) {
  mpfr_prec_t bits = 0;
  for (const Endpoint* end : {&a.lower(), &a.upper(), &b.lower(), &b.upper()})
    bits = std::max(bits, mpfr_get_prec(end->get()));
  const ScopedPrecision precision(static_cast<int>(bits));
  return operation(a, b);
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
  if (HasMoreBits(a) || HasMoreBits(b)) return AtPrecisionOf(a, b, std::plus<>());
  Interval y;
  mpfr_add(y.lower_.get(), a.lower_.get(), b.lower_.get(), MPFR_RNDD);
  mpfr_add(y.upper_.get(), a.upper_.get(), b.upper_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a, const Interval& b) {
  if (HasMoreBits(a) || HasMoreBits(b)) return AtPrecisionOf(a, b, std::minus<>());
  Interval y;
  mpfr_sub(y.lower_.get(), a.lower_.get(), b.upper_.get(), MPFR_RNDD);
  mpfr_sub(y.upper_.get(), a.upper_.get(), b.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator-(const Interval& a) {
  if (HasMoreBits(a)) return AtPrecisionOf(a, a, [](const Interval& x, auto&) { return -x; });
  Interval y;
  mpfr_neg(y.lower_.get(), a.upper_.get(), MPFR_RNDD);
  mpfr_neg(y.upper_.get(), a.lower_.get(), MPFR_RNDU);
  return y;
}

Interval operator*(const Interval& a, const Interval& b) {
  if (!a.IsSpecified() || !b.IsSpecified()) return {};
  if (b.IsOne()) return a;  // the amplitude of most tables
  if (HasMoreBits(a) || HasMoreBits(b)) return AtPrecisionOf(a, b, std::multiplies<>());
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
  if (a_crosses) return b * a;  // from here on only b may cross 0
  const bool a_negative = IsNegative(a.lower_) || IsNegative(a.upper_);
  const bool b_negative = !b_crosses && (IsNegative(b.lower_) || IsNegative(b.upper_));
  // The endpoints of a and b whose products are the endpoints of the result.
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
  if (HasMoreBits(a) || HasMoreBits(b)) return AtPrecisionOf(a, b, std::divides<>());
  if (IsNegative(b.upper_)) return -a / -b;
  Interval y;  // b > 0: each endpoint of a is divided by the endpoint of b that moves it outwards
  mpfr_div(y.lower_.get(), a.lower_.get(), (IsNegative(a.lower_) ? b.lower_ : b.upper_).get(),
           MPFR_RNDD);
  mpfr_div(y.upper_.get(), a.upper_.get(), (IsPositive(a.upper_) ? b.lower_ : b.upper_).get(),
           MPFR_RNDU);
  return y;
}

bool Less(const Interval& a, const Interval& b) {
  if (mpfr_less_p(a.upper_.get(), b.lower_.get())) return true;
  if (mpfr_greaterequal_p(a.lower_.get(), b.upper_.get())) return false;
  throw Undecided{};
}

Interval Max(const Interval& a, const Interval& b) {
  if (!a.IsSpecified() || !b.IsSpecified()) return {};
  Interval y;
  mpfr_max(y.lower_.get(), a.lower_.get(), b.lower_.get(), MPFR_RNDD);
  mpfr_max(y.upper_.get(), a.upper_.get(), b.upper_.get(), MPFR_RNDU);
  return y;
}

double Floor(const Interval& a) {
  Endpoint below, above;
  mpfr_floor(below.get(), a.lower_.get());
  mpfr_floor(above.get(), a.upper_.get());
  if (!mpfr_equal_p(below.get(), above.get())) throw Undecided{};
  return mpfr_get_d(below.get(), MPFR_RNDN);
}

namespace {

Decision DecisionOf(const Endpoint& x, DType type) {
  if (const auto parts = SplitThreeLimbs(x))
    return MakeDecision(type, parts->high, parts->low, parts->side);
  const double high = mpfr_get_d(x.get(), MPFR_RNDN);
  if (std::isinf(high)) return {RoundTo(type, high), high, 0};
  const int unit = std::ilogb(UnitOfLow(high));
  const ScopedPrecision of_x(static_cast<int>(mpfr_get_prec(x.get())));
  Endpoint rest;  // exact: the bits of x after those of `high`
  mpfr_sub_d(rest.get(), x.get(), high, MPFR_RNDN);
  const int side = mpfr_sgn(rest.get());
  mpfr_mul_2si(rest.get(), rest.get(), -unit, MPFR_RNDN);
  mpfr_rint(rest.get(), rest.get(), MPFR_RNDN);  // ties to even
  return MakeDecision(type, high, std::ldexp(mpfr_get_d(rest.get(), MPFR_RNDN), unit), side);
}

}  // namespace

std::optional<Decision> Decide(const Interval& x, DType type) {
  const Decision below = DecisionOf(x.lower(), type), above = DecisionOf(x.upper(), type);
  if (below != above) return std::nullopt;
  return below;
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
