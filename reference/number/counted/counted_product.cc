#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/number/counted/counted_steps.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

// True if x is not a value of the format because it has more significand bits.
bool HasMoreBits(const Grid& grid, double x) {
  return (std::bit_cast<uint64_t>(x) & ((uint64_t{1} << (53 - grid.precision)) - 1)) != 0;
}

// a * b, the same value with fewer operations where low parts are 0.
DoubleDouble Product(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble c = TwoProduct(a.high, b.high);
  if (a.low == 0) return FastTwoSum(c.high, c.low + (b.low == 0 ? 0 : a.high * b.low));
  if (b.low == 0) return FastTwoSum(c.high, c.low + a.low * b.high);
  return a * b;
}

}  // namespace

bool Counted::IsOrdinaryFactor() const {
  return !IsZero() && !IsPowerOfTwo() && std::isfinite(center_.high) &&
         std::isfinite(error_ + drift_);
}

inline Counted::Raw Counted::RawProduct(const Counted& a, const Counted& b) {
  Raw y{Product(a.center_, b.center_), {}, 0, a.saturated_ || b.saturated_};
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
  const StepRule& rule = CurrentRule();
  const Operand of_left(rule, left), of_right(rule, right);
  const Counted &a = *of_left, &b = *of_right;
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
  if ((a.IsPowerOfTwo() || b.IsPowerOfTwo()) && !rule.exact) {
    const DType format = rule.format;
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
  const double rounding = exact ? 0 : RoundingError(format, y.Magnitude() + raw.error.worst);
  return y.WithError({raw.error.worst + rounding, raw.error.likely + rounding});
}

}  // namespace sextant
