#include "reference/number/double_double/elementary.h"

#include <cmath>
#include <limits>

#include "reference/number/double_double/double_double.h"

namespace sextant {
namespace {

constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
// The first 33 bits of ln 2, and the double nearest to the rest: k times the first is exact.
constexpr double kLn2First = 0x1.62e42fefp-1, kLn2Rest = 0x1.473de6af278edp-34;

// (e^x - 1 - x) / x^2 for |x| <= 0.35: 1/2! + x/3! + ... + x^13/15!. The next term, x^14/16!, is
// below 2^-65. The sum is between 0.44 and 0.57; rounding it costs at most 2^-52.
double SecondOrder(double x) {
  double sum = 1;
  for (int n = 15; n > 2; --n) sum = 1 + x / n * sum;
  return sum / 2;
}

// e^x - 1 for |x| <= 0.35. The second term is at most 0.2 of the first, so its relative error of
// 2^-51 counts a fifth, and the sum rounds once.
double Expm1NearZero(double x) { return x + x * x * SecondOrder(x); }

}  // namespace

// x = k ln 2 + r with |r| <= 0.3466. k kLn2First is exact (33 + 11 bits). The two differences and
// k kLn2Rest have a sum of errors below 2^-53.5, which is a relative error of e^r; the rest adds
// about 2^-52.
double ExpOf(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double k = std::nearbyint(x * kOneOverLn2);
  const double r = (x - k * kLn2First) - k * kLn2Rest;
  return std::ldexp(1 + Expm1NearZero(r), static_cast<int>(k));
}

// For |x| > 0.35 the difference from 1 is at least 0.29 and 0.29 e^x: it multiplies the relative
// error of e^x by at most 3.4; that error is at most 2^-51.5 where it counts so much.
double Expm1Of(double x) { return std::abs(x) <= 0.35 ? Expm1NearZero(x) : ExpOf(x) - 1; }

// Near 0: 2 atanh z = 2 (z + z^3/3 + z^5/5 + ...) with z = x / (2 + x), |z| <= 1/7; the terms from
// z^23/23 on are below 2^-65 of the first. z has an error of two roundings, the sum one more.
double Log1pOf(double x) {
  if (!(x >= -0.25 && x <= 1.0 / 3)) return log(TwoSum(1, x)).high;
  const double z = x / (2 + x), square = z * z;
  double sum = 0;
  for (int n = 21; n > 1; n -= 2) sum = square * (1.0 / n + sum);
  return 2 * (z + z * sum);
}

}  // namespace sextant
