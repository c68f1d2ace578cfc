#include "fast/rope/precise_cos_sin.h"

#include <gmp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sextant::fast {
namespace {

static_assert(GMP_NUMB_BITS == 64);
constexpr int kFraction = 512;  // bits
constexpr int kLimbs = kFraction / 64 + 1;

// A fixed-point number in [0, 2^64) with 512 fraction bits, least significant limb first.
using Fixed = std::array<mp_limb_t, kLimbs>;

constexpr Fixed kOne = {0, 0, 0, 0, 0, 0, 0, 0, 1};
// pi/2 rounded down, computed with mpmath. The test of this file compares the results with MPFR's.
constexpr Fixed kHalfPi = {0x9fc26adadaa3848b, 0x605614dbe4be286e, 0xdf2a33679a748636,
                           0xa29410f31c6809bb, 0x04177d4c76273644, 0x52049c1114cf98e8,
                           0x898cc51701b839a2, 0x921fb54442d18469, 1};

bool Less(const Fixed& a, const Fixed& b) { return mpn_cmp(a.data(), b.data(), kLimbs) < 0; }
bool IsZero(const Fixed& a) { return mpn_zero_p(a.data(), kLimbs) != 0; }
void Add(Fixed& a, const Fixed& b) { mpn_add_n(a.data(), a.data(), b.data(), kLimbs); }
void Subtract(Fixed& a, const Fixed& b) { mpn_sub_n(a.data(), a.data(), b.data(), kLimbs); }

// Rounded down.
Fixed Multiply(const Fixed& a, const Fixed& b) {
  mp_limb_t product[2 * kLimbs];
  mpn_mul_n(product, a.data(), b.data(), kLimbs);
  Fixed result;
  std::copy_n(product + kFraction / 64, kLimbs, result.begin());
  return result;
}

// |x y| 2^scale, which must be below 2^64, rounded down; exact if its bits fit.
Fixed Product(double x, double y, int scale) {
  if (x == 0 || y == 0) return {};
  int ex, ey;
  const auto mx = static_cast<uint64_t>(std::ldexp(std::frexp(std::abs(x), &ex), 53));
  const auto my = static_cast<uint64_t>(std::ldexp(std::frexp(std::abs(y), &ey), 53));
  auto product = static_cast<unsigned __int128>(mx) * my;
  const int shift = ex + ey - 106 + scale + kFraction;
  if (shift < 0) product = shift > -128 ? product >> -shift : 0;
  const auto limb = static_cast<size_t>(std::max(shift, 0) / 64);
  const int bits = std::max(shift, 0) % 64;
  mp_limb_t wide[kLimbs + 2] = {};
  const auto low = static_cast<mp_limb_t>(product), high = static_cast<mp_limb_t>(product >> 64);
  wide[limb] = low << bits;
  wide[limb + 1] = high << bits | (bits > 0 ? low >> (64 - bits) : 0);
  wide[limb + 2] = bits > 0 ? high >> (64 - bits) : 0;
  Fixed result;
  std::copy_n(wide, kLimbs, result.begin());
  return result;
}

// The same for a double-double x.
Fixed Product(const DoubleDouble& x, double y, int scale) {
  Fixed product = Product(x.high, y, scale);
  const Fixed low = Product(x.low, y, scale);
  (x.low < 0) == (x.high < 0) ? Add(product, low) : Subtract(product, low);
  return product;
}

// Makes x less than 1, like the exact cos x and sin x / x for x != 0.
void KeepBelowOne(Fixed& x) {
  if (Less(x, kOne)) return;
  std::ranges::fill(x, ~mp_limb_t{0});
  x.back() = 0;
}

struct CosSin {
  Fixed cosine, sine;
};

// cos x and sin x by the Taylor series, for 0 <= x < 2.
CosSin Series(const Fixed& x) {
  Fixed sums[4] = {kOne};  // sums[i]: the terms x^n / n! with n mod 4 = i
  Fixed term = kOne;
  for (mp_limb_t n = 1; !IsZero(term); ++n) {
    term = Multiply(term, x);
    mpn_divrem_1(term.data(), 0, term.data(), kLimbs, n);
    Add(sums[n % 4], term);
  }
  Subtract(sums[0], sums[2]);
  Subtract(sums[1], sums[3]);
  return {sums[0], sums[1]};
}

// sin x / x = 1 - x^2 / 6 + x^4 / 120 for x < 2^-64; the remainder is below 2^-256.
Fixed SincOfTiny(const Fixed& x) {
  Fixed sixth = Multiply(x, x);
  mpn_divrem_1(sixth.data(), 0, sixth.data(), kLimbs, 6);
  Fixed power = Multiply(sixth, sixth);  // x^4 / 36, times 3/10 is x^4 / 120
  mpn_mul_1(power.data(), power.data(), kLimbs, 3);
  mpn_divrem_1(power.data(), 0, power.data(), kLimbs, 10);
  Fixed sinc = kOne;
  Subtract(sinc, sixth);
  Add(sinc, power);
  KeepBelowOne(sinc);
  return sinc;
}

// Subtracts k pi/2 from the angle, which is then in [0, pi/2). Returns k mod 4.
int Reduce(Fixed& angle, double estimate) {
  auto k = static_cast<mp_limb_t>(std::max(0.0, std::floor(estimate / 1.5707963267948966) - 4));
  Fixed multiple;
  mpn_mul_1(multiple.data(), kHalfPi.data(), kLimbs, k);
  Subtract(angle, multiple);
  for (; !Less(angle, kHalfPi); ++k) Subtract(angle, kHalfPi);
  return static_cast<int>(k % 4);
}

bool BitOf(const Fixed& n, int i) { return i < 64 * kLimbs && (n[i / 64] >> (i % 64) & 1) != 0; }
Fixed PowerOfTwo(int i) {
  Fixed power = {};
  if (i >= 0 && i < 64 * kLimbs) power[i / 64] = mp_limb_t{1} << (i % 64);
  return power;
}

// Returns the integer n times 2^exponent, rounded to nearest, ties to even. n becomes the magnitude
// of the rounding error; `above` is true if the result is larger than the exact value.
double TakeNearest(Fixed& n, int exponent, bool& above) {
  int length = 64 * kLimbs;
  while (length > 0 && !BitOf(n, length - 1)) --length;
  const int dropped = std::max({length - 53, -1074 - exponent, 0});
  uint64_t kept = 0;
  for (int i = length; i-- > dropped;) {
    kept = 2 * kept + BitOf(n, i);
    n[i / 64] &= ~(mp_limb_t{1} << (i % 64));
  }
  const Fixed half = PowerOfTwo(dropped - 1);  // 0 if nothing was dropped
  above = !IsZero(half) && (Less(half, n) || (n == half && kept % 2 == 1));
  if (above) {
    Fixed missing = PowerOfTwo(dropped);
    Subtract(missing, n);
    n = missing;
  }
  return std::ldexp(static_cast<double>(kept + above), exponent + dropped);
}

// +-x 2^exponent as a double-double.
DoubleDouble Rounded(Fixed x, int exponent, bool negative) {
  bool above, unused;
  const double high = TakeNearest(x, exponent - kFraction, above);
  const double low = TakeNearest(x, exponent - kFraction, unused);
  const double sign = negative ? -1 : 1;
  return {sign * high, sign * (above ? -low : low)};
}

}  // namespace

SineCosine PreciseCosSin(const DoubleDouble& frequency, double position,
                         const DoubleDouble& amplitude) {
  const double estimate = std::abs(frequency.high * position);
  if (!(estimate <= 0x1p53 && std::isfinite(amplitude.high))) {
    const DoubleDouble nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  if (amplitude.high == 0) return {amplitude, amplitude};
  if (estimate == 0) return {0.0, amplitude};
  // Factors are scaled to [1, 2), so that small numbers keep all their bits.
  const int angle_exponent = std::ilogb(estimate), exponent = std::ilogb(amplitude.high);
  const Fixed scale = Product(amplitude, 1, -exponent);
  const bool backwards = std::signbit(frequency.high) != std::signbit(position);
  const bool negative = std::signbit(amplitude.high);
  Fixed angle = Product(frequency, position, 0);
  const Fixed whole = angle;
  const int quarter = Reduce(angle, estimate);
  CosSin cos_sin = Series(angle);
  KeepBelowOne(cos_sin.cosine);
  if (angle_exponent < -64) {
    const Fixed digits = Product(frequency, position, -angle_exponent);
    return {Rounded(Multiply(Multiply(digits, scale), SincOfTiny(whole)), exponent + angle_exponent,
                    negative != backwards),
            Rounded(Multiply(cos_sin.cosine, scale), exponent, negative)};
  }
  if (quarter % 2 == 1) std::swap(cos_sin.cosine, cos_sin.sine);
  const bool cosine_negative = quarter == 1 || quarter == 2, sine_negative = quarter >= 2;
  return {
      Rounded(Multiply(cos_sin.sine, scale), exponent, (negative != backwards) != sine_negative),
      Rounded(Multiply(cos_sin.cosine, scale), exponent, negative != cosine_negative)};
}

}  // namespace sextant::fast
