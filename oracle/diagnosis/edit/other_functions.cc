#include "oracle/diagnosis/edit/other_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace sextant::oracle {
namespace {

template <int kBits>
double RoundedToBits(double x) {  // to so many significant bits
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kBits)), exponent - kBits);
}
double PowerOfTwoUp(double x) { return x > 0 ? std::exp2(std::ceil(std::log2(x))) : x; }
double PowerOfTwoDown(double x) { return x > 0 ? std::exp2(std::floor(std::log2(x))) : x; }
double PowerOfTwoNearest(double x) { return x > 0 ? std::exp2(std::nearbyint(std::log2(x))) : x; }

constexpr OtherFunction kAfterwards[] = {
    {"magnitude", "the magnitude of @ is used", [](double x) { return std::abs(x); }},
    {"squared", "the square of @ is used", [](double x) { return x * x; }},
    {"rooted", "the square root of @ is used", [](double x) { return std::sqrt(x); }},
    {"rooted", "the square root of the magnitude of @ is used, with its sign",
     [](double x) { return std::copysign(std::sqrt(std::abs(x)), x); }},
    {"logarithm", "the logarithm of @ is used", [](double x) { return std::log(x); }},
    {"inverse", "the inverse of @ is used", [](double x) { return 1 / x; }},
    {"negative_dropped", "negative numbers of @ are 0", [](double x) { return x > 0 ? x : 0; }},
    {"rounded_to_integers", "@ is rounded to integers", [](double x) { return std::nearbyint(x); }},
    {"cut_to_integers", "@ is cut to integers", [](double x) { return std::trunc(x); }},
    {"power_of_two", "@ is rounded to a power of two", PowerOfTwoNearest},
    {"power_of_two", "@ is rounded up to a power of two", PowerOfTwoUp},
    {"power_of_two", "@ is rounded down to a power of two", PowerOfTwoDown},
    {"few_bits", "@ is rounded to 3 significant bits", RoundedToBits<3>},
    {"few_bits", "@ is rounded to 4 significant bits", RoundedToBits<4>},
    {"few_bits", "@ is rounded to 6 significant bits", RoundedToBits<6>},
};

// A float with these bits, as far as that is a positive number.
double FromBits(double bits) {
  constexpr double kInfinityBits = 0x7f800000;
  if (!(bits > 0)) return 0;
  return bits < kInfinityBits ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : kInfinity;
}
// 1/sqrt(x) by a shift of bits and steps of Newton's method; the root that it gives.
template <int kSteps>
double FastRoot(double x) {
  if (!(x > 0 && x < std::numeric_limits<float>::max())) return std::sqrt(x);
  const auto value = static_cast<float>(x);
  auto inverse = std::bit_cast<float>(0x5f3759dfU - (std::bit_cast<uint32_t>(value) >> 1));
  for (int step = 0; step < kSteps; ++step) inverse *= 1.5F - 0.5F * value * inverse * inverse;
  return 1 / static_cast<double>(inverse);
}
// e^x from the bits of a float: linear between powers of two (Schraudolph 1999, with a correction).
template <int kCorrection>
double ExpOfBits(double x) {
  return FromBits(x * 0x1p23 / std::numbers::ln2 + 127 * 0x1p23 - kCorrection);
}
template <int kFactors>
double ExpOfFactors(double x) {
  return std::pow(std::max(0.0, 1 + x / kFactors), kFactors);
}
template <int kDegree>
double ExpOfSeries(double x) {  // of the fraction, times a power of two
  const double whole = std::nearbyint(x / std::numbers::ln2);
  const double rest = x - whole * std::numbers::ln2;
  double sum = 1, term = 1;
  for (int k = 1; k <= kDegree; ++k) sum += term *= rest / k;
  return std::isnan(whole) ? whole
                           : std::ldexp(sum, static_cast<int>(std::clamp(whole, -2000.0, 2000.0)));
}
template <int kDegree>
double PlainSeries(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k <= kDegree; ++k) sum += term *= x / k;
  return sum;
}

// Instead of a function of one stage.
struct InsteadOf {
  Function right;
  OtherFunction other;
};
constexpr InsteadOf kInstead[] = {
    {Function::kSqrt,
     {"fast_inverse_root",
      "the inverse root is approximated: bits shifted from 0x5f3759df, and one step of Newton's "
      "method",
      FastRoot<1>}},
    {Function::kSqrt,
     {"fast_inverse_root",
      "the inverse root is approximated: bits shifted from 0x5f3759df, and two steps of Newton's "
      "method",
      FastRoot<2>}},
    {Function::kSqrt,
     {"fast_inverse_root",
      "the inverse root is approximated: bits shifted from 0x5f3759df, without a step of Newton's "
      "method",
      FastRoot<0>}},
    {Function::kSqrt,
     {"root_of_another_power", "@ is raised to the power 1/3, expected its square root",
      [](double x) { return std::cbrt(x); }}},
    {Function::kSqrt,
     {"root_of_another_power", "@ is raised to the power 1/4, expected its square root",
      [](double x) { return std::pow(x, 0.25); }}},
    {Function::kExp,
     {"largest_alone", "only the largest counts: e^x is 1 there and 0 elsewhere",
      [](double x) { return x < 0 ? 0.0 : 1.0; }}},
    {Function::kExp,
     {"all_equal", "1 is used instead of e^x: all have the same weight",
      [](double) { return 1.0; }}},
    {Function::kExp,
     {"base_2", "2^x is computed instead of e^x", [](double x) { return std::exp2(x); }}},
    {Function::kExp,
     {"base_10", "10^x is computed instead of e^x", [](double x) { return std::pow(10, x); }}},
    {Function::kExp,
     {"one_subtracted", "e^x - 1 is computed instead of e^x",
      [](double x) { return std::expm1(x); }}},
    {Function::kExp,
     {"exponential_of_bits",
      "e^x is approximated by the bits of a float, linear between powers of two", ExpOfBits<0>}},
    {Function::kExp,
     {"exponential_of_bits",
      "e^x is approximated by the bits of a float, with Schraudolph's correction",
      ExpOfBits<486411>}},
    {Function::kExp,
     {"exponential_of_bits",
      "e^x is approximated by the bits of a float, with Schraudolph's correction",
      ExpOfBits<366393>}},
    {Function::kExp,
     {"exponential_of_factors", "e^x is approximated by (1 + x/256)^256", ExpOfFactors<256>}},
    {Function::kExp,
     {"exponential_of_factors", "e^x is approximated by (1 + x/1024)^1024", ExpOfFactors<1024>}},
    {Function::kExp,
     {"exponential_of_factors", "e^x is approximated by (1 + x/64)^64", ExpOfFactors<64>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by a power of two and a series of degree 2",
      ExpOfSeries<2>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by a power of two and a series of degree 3",
      ExpOfSeries<3>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by a power of two and a series of degree 4",
      ExpOfSeries<4>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by a power of two and a series of degree 5",
      ExpOfSeries<5>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by its series of degree 3", PlainSeries<3>}},
    {Function::kExp,
     {"exponential_of_series", "e^x is approximated by its series of degree 4", PlainSeries<4>}},
};

}  // namespace

std::span<const OtherFunction> FunctionsAfterwards() { return kAfterwards; }

std::vector<OtherFunction> FunctionsInsteadOf(Function right) {
  std::vector<OtherFunction> functions;
  for (const InsteadOf& instead : kInstead)
    if (instead.right == right) functions.push_back(instead.other);
  return functions;
}

}  // namespace sextant::oracle
