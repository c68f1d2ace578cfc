// Double-double numbers: the unevaluated sum of two doubles, about 106 significant bits at a few
// nanoseconds per operation. Used by `Counted` (centres) and by fast/ (exact tables).
//
// Invariant: high = RN(high + low), "a double-word number". Error bounds are stated in units of
// 2^-106, relative to the exact result unless stated otherwise. They hold for round to nearest
// without contraction (-ffp-contract=off), for finite numbers, as long as no intermediate result
// overflows and no error term underflows: operands and results between 2^-900 and 2^900, or zero.
// Source: Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building blocks
// of double-word arithmetic", ACM TOMS 44(2), doi:10.1145/3121432 (below: JMP).
#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>

namespace sextant {

struct DoubleDouble {
  double high = 0, low = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double x) : high(x) {}                    // exact
  constexpr DoubleDouble(double h, double l) : high(h), low(l) {}  // h = RN(h + l)
  template <std::signed_integral Integer>                          // exact
  constexpr DoubleDouble(Integer n)
      : high(static_cast<double>(n)),
        low(static_cast<double>(static_cast<__int128>(n) - static_cast<__int128>(high))) {}

  explicit operator double() const { return high; }  // rounded to nearest
  auto operator<=>(const DoubleDouble&) const = default;
};

inline constexpr DoubleDouble kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// a + b exactly. Source: JMP, algorithm 2 (Knuth).
inline DoubleDouble TwoSum(double a, double b) {
  const double s = a + b, c = s - b, d = s - c;
  return {s, (a - c) + (b - d)};
}

// a + b exactly, if |a| >= |b| or a = 0. Source: JMP, algorithm 1 (Dekker).
inline DoubleDouble FastTwoSum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a * b exactly. Source: JMP, algorithm 3.
inline DoubleDouble TwoProduct(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }

// <= 3.01, for all signs. Source: JMP, algorithm 6 (AccurateDWPlusDW).
inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const DoubleDouble v = FastTwoSum(s.high, s.low + t.high);
  return FastTwoSum(v.high, t.low + v.low);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

// a + b, the same bits. Adds to `error` the magnitudes of the two roundings of the algorithm: the
// result differs from the exact sum by at most their sum, and is exact if both are 0.
inline DoubleDouble Sum(const DoubleDouble& a, const DoubleDouble& b, double& error) {
  const DoubleDouble s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const DoubleDouble c = TwoSum(s.low, t.high), v = TwoSum(s.high, c.high);
  const DoubleDouble w = TwoSum(t.low, v.low);
  error += std::fabs(c.low) + std::fabs(w.low);
  return FastTwoSum(v.high, w.high);
}

// <= 2. Source: JMP, algorithm 4 (DWPlusFP).
template <std::same_as<double> Double>
DoubleDouble operator+(const DoubleDouble& a, Double b) {
  const DoubleDouble s = TwoSum(a.high, b);
  return FastTwoSum(s.high, a.low + s.low);
}

// <= 5. Source: JMP, algorithm 12 (DWTimesDW3).
inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble c = TwoProduct(a.high, b.high);
  const double cross = std::fma(a.low, b.high, std::fma(a.high, b.low, a.low * b.low));
  return FastTwoSum(c.high, c.low + cross);
}

// <= 2. Source: JMP, algorithm 9 (DWTimesFP3).
template <std::same_as<double> Double>
DoubleDouble operator*(const DoubleDouble& a, Double b) {
  const DoubleDouble c = TwoProduct(a.high, b);
  return FastTwoSum(c.high, std::fma(a.low, b, c.low));
}

// <= 3. Source: JMP, algorithm 15 (DWDivFP3).
template <std::same_as<double> Double>
DoubleDouble operator/(const DoubleDouble& a, Double b) {
  const double t = a.high / b;
  const DoubleDouble p = TwoProduct(t, b);
  return FastTwoSum(t, ((a.high - p.high) - p.low + a.low) / b);
}

// <= 15.01. Source: JMP, algorithm 17 (DWDivDW2).
inline DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
  const double t = a.high / b.high;
  const DoubleDouble r = b * t;
  return FastTwoSum(t, ((a.high - r.high) + (a.low - r.low)) / b.high);
}

inline DoubleDouble& operator+=(DoubleDouble& a, const DoubleDouble& b) { return a = a + b; }
inline DoubleDouble& operator-=(DoubleDouble& a, const DoubleDouble& b) { return a = a - b; }
inline DoubleDouble& operator*=(DoubleDouble& a, const DoubleDouble& b) { return a = a * b; }
inline DoubleDouble& operator/=(DoubleDouble& a, const DoubleDouble& b) { return a = a / b; }

inline DoubleDouble abs(const DoubleDouble& a) { return a.high < 0 ? -a : a; }

// The largest integer of at most a, rounded to double.
inline double floor(const DoubleDouble& a) {
  const double high = std::floor(a.high);
  return high == a.high ? high + std::floor(a.low) : high;
}

// a * 2^n; exact unless a part underflows.
inline DoubleDouble ldexp(const DoubleDouble& a, int n) {
  return {std::ldexp(a.high, n), std::ldexp(a.low, n)};
}

// <= 3.13; a >= 0. Source: Lefevre, Louvet, Muller, Picot, Rideau 2023, "Accurate calculation of
// Euclidean norms using double-word arithmetic", ACM TOMS 49(1), algorithm SQRTDWtoDW, theorem 4.1.
inline DoubleDouble sqrt(const DoubleDouble& a) {
  if (a.high == 0) return a;
  const double s = std::sqrt(a.high);
  return FastTwoSum(s, (std::fma(-s, s, a.high) + a.low) / (2 * s));
}

// e^a: <= 12; |a| <= 600.
DoubleDouble exp(const DoubleDouble& a);

// ln a: <= 33; a > 0.
DoubleDouble log(const DoubleDouble& a);

// base^(p/q): <= 14 + 10 |p/q|; base > 0, |p|, |q| <= 2^53, q != 0. Exact for p = 0.
DoubleDouble Power(double base, int64_t p, int64_t q);

struct SineCosine {
  DoubleDouble sine, cosine;
};

// Sine and cosine of an angle in radians, |angle| <= 2^53 (beyond: NaN). Error <= 13 units
// absolute; for |angle| <= 1/32 the sine's is also <= 4 units relative.
SineCosine SinCos(const DoubleDouble& angle);

}  // namespace sextant
