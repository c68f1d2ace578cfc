#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/number/counted.h"
#include "reference/number/evaluation_context.h"
#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

// RoundingError(format, magnitude), without a function call for ordinary numbers.
double RoundingOf(const Grid& grid, DType format, double magnitude) {
  constexpr uint64_t kExponent = 0x7ff0000000000000;
  const double binade = std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) & kExponent);
  const auto power = [](int exponent) {
    return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
  };
  const bool ordinary =
      binade >= power(grid.min_exponent + grid.precision) && binade < power(grid.max_exponent);
  return ordinary ? binade * power(-grid.precision) : RoundingError(format, magnitude);
}

// True if x is not a value of the format because it has more significand bits.
bool HasMoreBits(const Grid& grid, double x) {
  return (std::bit_cast<uint64_t>(x) & ((uint64_t{1} << (53 - grid.precision)) - 1)) != 0;
}

}  // namespace

bool Counted::IsOrdinaryFactor() const {
  return !IsZero() && !IsPowerOfTwo() && std::isfinite(center_.high) &&
         std::isfinite(error_ + drift_);
}

inline Counted::Raw Counted::RawProduct(const Counted& a, const Counted& b) {
  Raw y{a.center_ * b.center_, {}, 0, a.saturated_ || b.saturated_};
  const double size_a = a.Magnitude(), size_b = b.Magnitude();
  y.error = PropagatedBounds(
      a, b, [&](double of_a, double of_b) { return size_a * of_b + size_b * of_a + of_a * of_b; });
  // The product of two doubles is exactly a double-double unless its lower half underflows.
  const bool precise = a.IsExact() && b.IsExact() && a.center_.low == 0 && b.center_.low == 0 &&
                       std::abs(y.center.high) > 0x1p-900;
  if (!precise)
    y.drift = size_a * b.drift_ + size_b * a.drift_ + a.drift_ * b.drift_ + DriftOf(y.center, 8);
  return y;
}

Counted operator*(const Counted& left, const Counted& right) {
  const Counted a = Converted(left), b = Converted(right);
  Counted::Raw raw = Counted::RawProduct(a, b);
  // 0 times any finite number is 0: position 0 rotates nothing.
  const bool zero = (a.IsZero() && std::isfinite(b.Magnitude() + b.error_)) ||
                    (b.IsZero() && std::isfinite(a.Magnitude() + a.error_));
  if (zero) {
    raw.drift = 0;
    raw.saturated = false;
  }
  // The product of a value of the format and a power of two needs no rounding, unless it falls
  // below the smallest normal number or above the largest number of the format.
  if ((a.IsPowerOfTwo() || b.IsPowerOfTwo()) && !CurrentRule().exact) {
    const DType format = CurrentRule().format;
    const double least = std::abs(raw.center.high) * (1 - 0x1p-50) - raw.error.worst - raw.drift;
    const double most = a.Magnitude() * b.Magnitude() * (1 + 0x1p-50) + raw.error.worst;
    raw.rounds = !(least >= MinNormal(format) && most < MaxFinite(format));
  }
  return Counted::Finish(raw, 0.5);
}

Counted OrdinaryProduct(const Counted& a, const Counted& b) {
  const DType format = CurrentRule().format;
  const Grid grid = GridOf(format);
  const Counted::Raw raw = Counted::RawProduct(a, b);
  const Counted y = Counted::Of(raw.center, raw.drift, format, raw.saturated);
  const bool exact = a.IsExact() && b.IsExact() && raw.drift == 0 && raw.center.low == 0 &&
                     !HasMoreBits(grid, raw.center.high) &&
                     IsRepresentable(format, raw.center.high);
  const double rounding = exact ? 0 : RoundingOf(grid, format, y.Magnitude() + raw.error.worst);
  return y.WithError({raw.error.worst + rounding, raw.error.likely + rounding});
}

}  // namespace sextant
