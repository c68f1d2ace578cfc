#include "reference/number/dot/dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "reference/number/dot/counted_factor.h"
#include "reference/number/dot/plain_dot.h"

namespace sextant {
namespace {

using Limb = mp_limb_t;
__extension__ using TwoLimbs = unsigned __int128;

constexpr int kLimbBits = 64;
static_assert(GMP_NUMB_BITS == kLimbBits);

// Largest precision for integers: beyond it radii might underflow a double. Such precisions are
// rare, so they need not be fast.
constexpr int kMostBits = 400;
// Bits of an integer beyond the working precision.
constexpr int kGuardBits = 64;

// An MPFR number is 0.m 2^exponent, with m in whole limbs, the lowest first.
std::span<const Limb> SignificandOf(mpfr_srcptr x) {
  const auto count = static_cast<size_t>((mpfr_get_prec(x) + kLimbBits - 1) / kLimbBits);
  return {static_cast<const Limb*>(mpfr_custom_get_significand(x)), count};
}

// The exponent of the lowest bit that is 1. x must not be 0.
int64_t LowestBitOf(mpfr_srcptr x) {
  const auto m = SignificandOf(x);
  size_t zeros = 0;
  while (m[zeros] == 0) ++zeros;
  return mpfr_get_exp(x) - static_cast<int64_t>((m.size() - zeros) * kLimbBits) +
         __builtin_ctzll(m[zeros]);
}

// to = floor(|x| / 2^unit), which must fit. Returns true if that loses bits.
bool PlaceLimbs(mpfr_srcptr x, int64_t unit, std::span<Limb> to) {
  std::ranges::fill(to, 0);
  if (mpfr_zero_p(x)) return false;
  const auto m = SignificandOf(x);
  const int64_t shift = mpfr_get_exp(x) - static_cast<int64_t>(m.size() * kLimbBits) - unit;
  const int64_t limbs = shift >= 0 ? shift / kLimbBits : -((-shift + kLimbBits - 1) / kLimbBits);
  const auto bits = static_cast<int>(shift - limbs * kLimbBits);  // left shift, 0 .. 63
  bool loses = false;
  const auto put = [&](int64_t at, Limb limb) {
    if (at < 0) {
      loses |= limb != 0;
    } else if (limb != 0) {
      to[static_cast<size_t>(at)] |= limb;
    }
  };
  for (size_t i = 0; i < m.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) + limbs;
    put(at, m[i] << bits);
    if (bits > 0) put(at + 1, m[i] >> (kLimbBits - bits));
  }
  return loses;
}

// |x| / 2^exponent, rounded up to a double.
double UpIn(mpfr_srcptr x, int64_t exponent) {
  long own = 0;
  const double fraction = std::abs(mpfr_get_d_2exp(&own, x, MPFR_RNDA));
  return std::ldexp(fraction, static_cast<int>(std::max<int64_t>(own - exponent, -1000)));
}

// sum += a * b. `sum` has room for all carries.
void AddProduct(std::span<const Limb> a, std::span<const Limb> b, Limb* sum) {
  for (size_t j = 0; j < b.size(); ++j, ++sum) {
    if (b[j] == 0) continue;
    Limb carry = 0;
    size_t i = 0;
    for (; i < a.size(); ++i) {
      const TwoLimbs t = static_cast<TwoLimbs>(a[i]) * b[j] + sum[i] + carry;
      sum[i] = static_cast<Limb>(t);
      carry = static_cast<Limb>(t >> kLimbBits);
    }
    for (; carry != 0; ++i) {
      sum[i] += carry;
      carry = sum[i] < carry;
    }
  }
}

}  // namespace

DotOperand<Interval>::DotOperand(std::span<const Interval> numbers) : numbers_(numbers) {
  specified_ = std::ranges::all_of(numbers, &Interval::IsSpecified);
  if (!specified_) return;
  Scale();
  if (plain_) return;
  limbs_.resize(numbers.size() * width_);
  negative_.resize(numbers.size());
  size_.resize(numbers.size());
  radius_.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) SetInteger(i);
}

// Chooses unit_, top_ and width_. If all numbers are points, the integers are exact; else they have
// the working precision and kGuardBits bits.
void DotOperand<Interval>::Scale() {
  int64_t lowest = std::numeric_limits<int64_t>::max();
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  top_ = kNone;
  bool points = true;
  for (const Interval& x : numbers_) {
    points = points && x.IsPoint();
    for (const Endpoint* end : {&x.lower(), &x.upper()}) {
      if (mpfr_zero_p(end->get())) continue;
      top_ = std::max<int64_t>(top_, mpfr_get_exp(end->get()));
      if (points) lowest = std::min(lowest, LowestBitOf(end->get()));
    }
  }
  if (top_ == kNone) lowest = top_ = 0;  // all numbers are 0
  const auto precision = static_cast<int>(mpfr_get_prec(Endpoint().get()));
  if (!points) {
    plain_ = precision > kMostBits;
    lowest = top_ - precision - kGuardBits;
  }
  width_ = static_cast<size_t>((top_ - lowest + kLimbBits - 1) / kLimbBits);
  unit_ = top_ - static_cast<int64_t>(width_) * kLimbBits;
}

// Integer i is the endpoint nearer to 0, rounded towards 0.
void DotOperand<Interval>::SetInteger(size_t i) {
  mpfr_srcptr lower = numbers_[i].lower().get(), upper = numbers_[i].upper().get();
  mpfr_srcptr near = mpfr_sgn(upper) < 0 ? upper : lower;
  negative_[i] = mpfr_sgn(near) < 0;
  const bool cut = PlaceLimbs(near, unit_, std::span(limbs_).subspan(i * width_, width_));
  size_[i] = std::max(UpIn(lower, top_), UpIn(upper, top_));
  if (numbers_[i].IsPoint() && !cut) return;
  Endpoint width;
  mpfr_sub(width.get(), upper, lower, MPFR_RNDU);
  const double unit = std::ldexp(1.0, -static_cast<int>(width_) * kLimbBits);
  radius_[i] = (UpIn(width.get(), top_) + unit) * (1 + 0x1p-50);
  exact_ = false;
}

namespace {

// Bound of |sum of products - sum of products of the integers|, in units of 2^(top of a + top of
// b).
double ErrorOf(std::span<const double> a, std::span<const double> of_a, std::span<const double> b,
               std::span<const double> of_b) {
  double error = 0;
  for (size_t i = 0; i < a.size(); ++i) error += a[i] * of_b[i] + of_a[i] * (b[i] + of_b[i]);
  // Covers rounding and underflow in the sum above.
  const auto n = static_cast<double>(a.size());
  return error * (1 + (n + 8) * 0x1p-52) + n * 0x1p-1060;
}

}  // namespace

Interval SumOfProducts(std::span<const Interval> a, std::span<const Interval> b) {
  Interval y(0.0);
  for (size_t i = 0; i < a.size(); ++i) y = y + a[i] * b[i];
  return y;
}

Interval Dot(const DotOperand<Interval>& a, const DotOperand<Interval>& b) {
  if (!a.specified_ || !b.specified_) return {};
  if (a.plain_ || b.plain_) return SumOfProducts(a.numbers_, b.numbers_);
  Interval y;
  const size_t width = a.width_ + b.width_ + 1;  // room for 2^64 terms
  std::vector<Limb> sums(2 * width);             // of the positive products, of the negative ones
  for (size_t i = 0; i < a.numbers_.size(); ++i) {
    const std::span of_a(&a.limbs_[i * a.width_], a.width_);
    const std::span of_b(&b.limbs_[i * b.width_], b.width_);
    AddProduct(of_a, of_b, &sums[a.negative_[i] == b.negative_[i] ? 0 : width]);
  }
  Limb *positive = sums.data(), *negative = &sums[width];
  const bool is_negative = mpn_cmp(positive, negative, static_cast<mp_size_t>(width)) < 0;
  if (is_negative) std::swap(positive, negative);
  mpn_sub_n(positive, positive, negative, static_cast<mp_size_t>(width));
  mpz_t sum;
  mpz_roinit_n(sum, positive, static_cast<mp_size_t>(is_negative ? -width : width));
  mpfr_set_z_2exp(y.lower_.get(), sum, a.unit_ + b.unit_, MPFR_RNDD);
  mpfr_set_z_2exp(y.upper_.get(), sum, a.unit_ + b.unit_, MPFR_RNDU);
  if (a.exact_ && b.exact_) return y;
  const double error = ErrorOf(a.size_, a.radius_, b.size_, b.radius_);
  Endpoint reach;
  mpfr_set_d(reach.get(), error, MPFR_RNDU);
  mpfr_mul_2si(reach.get(), reach.get(), a.top_ + b.top_, MPFR_RNDU);
  mpfr_sub(y.lower_.get(), y.lower_.get(), reach.get(), MPFR_RNDD);
  mpfr_add(y.upper_.get(), y.upper_.get(), reach.get(), MPFR_RNDU);
  return y;
}

std::vector<double> PlainNumbers(std::span<const Counted> numbers) {
  const ScopedStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  if (rule.exact || rule.flushes || rule.factors != Factors::kWhole ||
      GridOf(rule.format).precision > kMostPlainBits)
    return {};
  std::vector<double> plain;
  plain.reserve(numbers.size());
  std::optional<DType> held;  // a format that the step's format contains
  for (const Counted& x : numbers) {
    const double value = x.center().high;
    if (!(x.IsExact() && !x.saturated() && x.center().low == 0 && std::isfinite(value))) return {};
    // Else the conversion to the format of the step has an error.
    if (!(held && x.format() == held)) {
      const bool holds = x.format() && Contains(rule.format, *x.format());
      if (holds) held = x.format();
      if (!holds && !IsRepresentable(rule.format, value)) return {};
    }
    plain.push_back(value);
  }
  return plain;
}

DotOperand<Counted>::DotOperand(std::span<const Counted> numbers) {
  const ScopedStep at(Step::kDot);
  const StepRule& rule = CurrentRule();
  const bool converts = !rule.exact && !rule.flushes;  // otherwise operator* converts
  const bool reads = converts || rule.factors != Factors::kWhole;
  numbers_.reserve(numbers.size());
  for (const Counted& number : numbers) {
    const Counted& x = numbers_.emplace_back(reads ? ConvertedFactor(number) : number);
    ordinary_.push_back(converts && x.IsOrdinaryFactor());
  }
  plain_ = PlainNumbers(numbers);
  if (!plain_.empty()) range_.Include(plain_, GridOf(rule.format));
}

Counted DotOperand<Counted>::Times(const DotOperand& other) const {
  const ScopedStep at(Step::kDot);
  CountedSum sum;
  for (size_t i = 0; i < numbers_.size(); ++i) {
    const Counted &x = numbers_[i], &y = other.numbers_[i];
    sum.Add(ordinary_[i] && other.ordinary_[i] ? OrdinaryProduct(x, y) : Converted(x * y));
  }
  return sum.Total();
}

}  // namespace sextant
