// The constants below were computed with mpmath at 600 bits: the double nearest to the exact value,
// then the double nearest to the remainder.
#include "reference/number/double_double/double_double.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/double_double/double_double.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "reference/number/double_double/inverse_factorials.h"

// Scalars, but compiled for each instruction set: where it has fused multiplications, std::fma is
// one instruction instead of a call. The bits are the same.
HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {

constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

// The Taylor coefficients of atanh z / z in z^2.
constexpr DoubleDouble kAtanh[] = {
    {0x1p+0, 0x0p+0},                                // 1/1
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},   // 1/3
    {0x1.999999999999ap-3, -0x1.999999999999ap-57},  // 1/5
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},   // 1/7
    {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},   // 1/9
    {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59},  // 1/11
    {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},  // 1/13
    {0x1.1111111111111p-4, 0x1.1111111111111p-60},   // 1/15
    {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},   // 1/17
    {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59},   // 1/19
    {0x1.8618618618618p-5, 0x1.8618618618618p-59},   // 1/21
    {0x1.642c8590b2164p-5, 0x1.642c8590b2164p-60},   // 1/23
};

constexpr double kAtanhFrom25[] = {0x1.47ae147ae147bp-5, 0x1.2f684bda12f68p-5, 0x1.1a7b9611a7b96p-5,
                                   0x1.0842108421084p-5, 0x1.f07c1f07c1f08p-6, 0x1.d41d41d41d41dp-6,
                                   0x1.bacf914c1badp-6,  0x1.a41a41a41a41ap-6, 0x1.8f9c18f9c18fap-6,
                                   0x1.7d05f417d05f4p-6};

constexpr SineCosine kSixteenths[] = {
    // of j/16 radians
    {{0x0p+0, 0x0p+0}, {0x1p+0, 0x0p+0}},  // 0/16
    {{0x1.ffaaaeeed4edbp-5, -0x1.2d16d32684b69p-59},
     {0x1.ff0015549f4d3p-1, 0x1.328387b99426fp-55}},  // 1/16
    {{0x1.feaaeee86ee36p-4, -0x1.afcb2bcc6f03bp-59},
     {0x1.fc015527d5bd3p-1, 0x1.b68f35094efb8p-55}},  // 2/16
    {{0x1.7dc102fbaf2b5p-3, 0x1.5ab50e23c97c3p-59},
     {0x1.f706bdf9ece1cp-1, -0x1.698c80c36dcb4p-55}},  // 3/16
    {{0x1.faaeed4f31577p-3, -0x1.15d88508e32b8p-57},
     {0x1.f01549f7deea1p-1, 0x1.d3c1e99e5cafdp-55}},  // 4/16
    {{0x1.3ad129769d3d8p-2, 0x1.03d550487839ap-63},
     {0x1.e733ea0193d4p-1, -0x1.6428b3546ce13p-55}},  // 5/16
    {{0x1.7710255764214p-2, -0x1.6ead7314bb6cep-57},
     {0x1.dc6b7eb995912p-1, 0x1.4b364776dcd35p-58}},  // 6/16
    {{0x1.b1d8305321617p-2, -0x1.ae242cb99f519p-56},
     {0x1.cfc6cfa52ad9fp-1, 0x1.8b5b5508f2a0dp-55}},  // 7/16
    {{0x1.eaee8744b05fp-2, -0x1.789b43c9b027dp-58},
     {0x1.c1528065b7d5p-1, -0x1.892111312e828p-55}},  // 8/16
    {{0x1.110d0c4b69c3bp-1, 0x1.d918998809981p-55},
     {0x1.b11d04162a4c6p-1, 0x1.1dd561efbc0c2p-56}},  // 9/16
    {{0x1.2b91dea88421ep-1, -0x1.fa371db216abp-55},
     {0x1.9f368ed912f85p-1, -0x1.1d200c5791606p-55}},  // 10/16
    {{0x1.44eb381cf386bp-1, -0x1.3ed6c1e6a5505p-55},
     {0x1.8bb105a5dc9p-1, 0x1.863e03e9474c1p-55}},  // 11/16
    {{0x1.5cffc16bf8f0dp-1, 0x1.96cb370eb578ap-55},
     {0x1.769fec655211fp-1, -0x1.827d5cf8c68c5p-57}},  // 12/16
    {{0x1.73b7680dea578p-1, -0x1.2248306dc12a2p-56},
     {0x1.6018526f563dfp-1, 0x1.46ca5e0e432dp-55}},  // 13/16
};

// sum of c[i] x^i, in double: for the last terms of a series, which need only their leading bits.
template <size_t n>
double Horner(const double (&c)[n], double x) {
  double sum = 0;
  for (size_t i = n; i-- > 0;) sum = c[i] + x * sum;
  return sum;
}

// ln m for sqrt(1/2) <= m < sqrt(2), relative error <= 24 units: 2 atanh z with z = (m-1) / (m+1),
// |z| < 0.1716. z has an error of 2 + 2 + 15 units; the series adds 0.01 of that, the last sum 3.
DoubleDouble LogNearOne(const DoubleDouble& m) {
  const DoubleDouble z = (m + -1.0) / (m + 1.0), z2 = z * z;
  DoubleDouble sum = kAtanh[11] + z2 * Horner(kAtanhFrom25, z2.high);
  for (int i = 10; i > 0; --i) sum = kAtanh[i] + z2 * sum;
  return (z + z * (z2 * sum)) * 2.0;
}

// Splits a > 0 into m 2^n with sqrt(1/2) <= m < sqrt(2); returns n.
int SplitExponent(DoubleDouble& a) {
  int n;
  if (std::frexp(a.high, &n) < 0x1.6a09e667f3bcdp-1) --n;
  a = ldexp(a, -n);
  return n;
}

// angle - k pi/2, for an integer k for which the remainder is at most pi/4 (1 + 2^-9) in magnitude.
// Every product is exact; each of the three sums, of size <= 1.2, adds an error of 3 units.
DoubleDouble ReduceByHalfPi(const DoubleDouble& angle, double k) {
  const DoubleDouble p = TwoProduct(k, kHalfPi[0]);
  DoubleDouble r = TwoSum(angle.high, -p.high) + TwoSum(angle.low, -p.low);
  r -= TwoProduct(k, kHalfPi[1]);
  return r - TwoProduct(k, kHalfPi[2]);
}

// Sine and cosine of |r| <= pi/4 (1 + 2^-9), absolute error <= 5 units: r = j/16 + t, |t| <= 1/32,
// Taylor series in t (the terms from t^8 on in double), addition theorem.
SineCosine SinCosReduced(const DoubleDouble& r) {
  const DoubleDouble magnitude = abs(r);
  const int j = static_cast<int>(magnitude.high * 16 + 0.5);
  const DoubleDouble t = magnitude + j * -0.0625, t2 = t * t;
  const double h = t2.high;
  const auto& f = kInverseFactorial;
  const double sine_tail =
      f[9].high - h * (f[11].high - h * (f[13].high - h * 0x1.ae7f3e733b81fp-41));
  const double cosine_tail = f[8].high - h * (f[10].high - h * (f[12].high - h * f[14].high));
  const DoubleDouble sine = t + t * (t2 * (t2 * (f[5] - t2 * (f[7] - t2 * sine_tail)) - f[3]));
  const DoubleDouble cosine_minus_1 = t2 * (t2 * (f[4] - t2 * (f[6] - t2 * cosine_tail)) + -0.5);
  const auto& [sj, cj] = kSixteenths[j];
  const DoubleDouble s = sj + (cj * sine + sj * cosine_minus_1);
  const DoubleDouble c = cj + (cj * cosine_minus_1 - sj * sine);
  return {r.high < 0 ? -s : s, c};
}

// |n ln 2| <= 2 |result| and |ln m| <= |result|: 2 * 3 + 24 + 3 units.
DoubleDouble Log(const DoubleDouble& a) {
  if (!(a.high > 0 && std::isfinite(a.high))) return std::log(a.high);
  DoubleDouble m = a;
  const int n = SplitExponent(m);
  const DoubleDouble near_one = LogNearOne(m);
  return n == 0 ? near_one : kLn2 * static_cast<double>(n) + near_one;
}

// With base = m 2^n and n p / q = K + f, |f| <= 1/2: base^(p/q) = 2^K e^(f ln 2 + (p/q) ln m). K
// and the numerator of f are integers, so a large n loses no accuracy. m is a double, so the
// error of ln m is 20 units.
DoubleDouble RationalPower(double base, int64_t p, int64_t q) {
  if (p == 0) return 1.0;
  const int64_t divisor = (q < 0 ? -1 : 1) * std::gcd(p, q);
  p /= divisor;
  q /= divisor;
  DoubleDouble m = base;
  const __int128 np = static_cast<__int128>(SplitExponent(m)) * p;
  const __int128 K = (2 * np + (np < 0 ? -q : q)) / (static_cast<__int128>(2) * q);
  const double f = static_cast<double>(np - K * q), pd = static_cast<double>(p);
  const double qd = static_cast<double>(q);
  const DoubleDouble t = kLn2 * f / qd + LogNearOne(m) * pd / qd;
  return ldexp(exp(t), static_cast<int>(std::clamp<__int128>(K, -10000, 10000)));
}

SineCosine SineAndCosine(const DoubleDouble& angle) {
  if (!(std::abs(angle.high) <= 0x1p53)) {
    const DoubleDouble nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  double k = std::nearbyint(angle.high * kTwoOverPi);
  DoubleDouble r = ReduceByHalfPi(angle, k);
  if (std::abs(angle.high) > 0x1p40) {  // k was off by up to 2
    k += std::nearbyint(r.high * kTwoOverPi);
    r = ReduceByHalfPi(angle, k);
  }
  const auto [s, c] = SinCosReduced(r);
  switch (static_cast<int64_t>(k) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(Log);
HWY_EXPORT(RationalPower);
HWY_EXPORT(SineAndCosine);

}  // namespace

DoubleDouble log(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(Log)(a); }
DoubleDouble Power(double base, int64_t p, int64_t q) {
  return HWY_DYNAMIC_DISPATCH(RationalPower)(base, p, q);
}
SineCosine SinCos(const DoubleDouble& angle) { return HWY_DYNAMIC_DISPATCH(SineAndCosine)(angle); }

}  // namespace sextant
#endif
