#include "oracle/diagnosis/measured_number.h"

#include <cstdio>
#include <cstdlib>

namespace sextant::oracle {
namespace {

// The significant digits that an error leaves.
double DigitsOf(const MeasuredNumber& measured) {
  return std::log10(std::abs(measured.value) / measured.bar);
}

}  // namespace

Range Quotient(double value, double error, double divisor) {
  if (divisor == 0) return std::abs(value) <= error ? Range{} : Range{1, 0};
  const double a = (value - error) / divisor, b = (value + error) / divisor;
  return {std::min(a, b), std::max(a, b)};
}

LongRange Quotient(const LongRange& range, long double divisor) {
  if (range.IsEmpty()) return range;
  const long double a = range.low / divisor, b = range.high / divisor;
  return {std::min(a, b), std::max(a, b)};
}

double RoundedToDigits(long double x, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*Le", digits - 1, x);
  return std::strtod(text, nullptr);
}

std::string TextWithDigits(double x, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}

double SimplestIn(const LongRange& range) {
  if (range.Contains(0)) return 0;
  const long double middle = range.Middle();
  return RoundedToDigits(middle, FewestDigits(middle, [&](double x) { return range.Contains(x); }));
}

std::optional<double> ShortNumber(const MeasuredNumber& measured) {
  constexpr int kFewer = 2;
  const int digits = FewestDigits(measured.value, [&](double x) { return measured.MayBe(x); });
  if (!(digits + kFewer <= DigitsOf(measured))) return std::nullopt;
  return RoundedToDigits(measured.value, digits);
}

std::string ShortText(double x) { return TextWithDigits(x, 7); }

std::string TextOf(const MeasuredNumber& measured) {
  const auto digits = static_cast<int>(std::clamp(DigitsOf(measured) + 2, 1.0, 15.0));
  return TextWithDigits(measured.value, digits) + " +- " + TextWithDigits(measured.bar, 1);
}

std::string ShortestText(const MeasuredNumber& measured) {
  const auto number = ShortNumber(measured);
  return number ? ShortText(*number) : TextOf(measured);
}

}  // namespace sextant::oracle
