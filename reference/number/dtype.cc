#include "reference/number/dtype.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "reference/base/value_text.h"

namespace sextant {
namespace {

constexpr std::string_view kNames[] = {"f64", "f32", "f16", "bf16", "i64"};

int ExponentOf(double x) {
  return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
}

// Exponent of the unit in the last place in the binade of |x|, subnormals and 0 included. The
// exponent field of a double suffices: no grid has a smaller min_exponent than f64, which is -1022.
int QuantumExponent(const Grid& grid, double x) {
  return std::max(ExponentOf(x), grid.min_exponent) - (grid.precision - 1);
}

// 2^exponent, from the smallest subnormal to the largest power.
double PowerOfTwo(int exponent) {
  return exponent >= -1022 ? std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52)
                           : std::ldexp(1.0, exponent);
}

// Rounds the significand as an integer; a carry increases the exponent. For a normal number of the
// grid below its largest binade.
double RoundSignificand(const Grid& grid, double x) {
  const int dropped = 53 - grid.precision;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t to_even = ((uint64_t{1} << dropped) >> 1) - 1 + (bits >> dropped & 1);
  return std::bit_cast<double>((bits + to_even) & (~uint64_t{0} << dropped));
}

// Orders the values of a grid by consecutive integers: 0 for zero, negative for negative values.
int64_t Ordinal(DType type, double x) {
  const uint64_t sign = uint64_t{1} << (8 * SizeOf(type) - 1);
  const uint64_t bits = EncodeBits(type, x);
  const int64_t magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) ? -magnitude : magnitude;
}

double FromOrdinal(DType type, int64_t ordinal) {
  const uint64_t sign = uint64_t{1} << (8 * SizeOf(type) - 1);
  return DecodeBits(
      type, ordinal < 0 ? sign | static_cast<uint64_t>(-ordinal) : static_cast<uint64_t>(ordinal));
}

}  // namespace

std::string_view NameOf(DType type) { return kNames[static_cast<size_t>(type)]; }

DType ParseDType(std::string_view name) { return static_cast<DType>(IndexIn(kNames, name)); }

size_t SizeOf(DType type) {
  switch (type) {
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
  }
  return 0;
}

bool Contains(DType outer, DType inner) {
  if (outer == inner) return true;
  if (inner == DType::kI64) return outer == DType::kF64;
  if (outer == DType::kI64) return false;
  const Grid o = GridOf(outer), i = GridOf(inner);
  return o.precision >= i.precision &&
         o.min_exponent - o.precision <= i.min_exponent - i.precision &&
         o.max_exponent >= i.max_exponent;
}

double RoundTo(DType type, double x) {
  if (type == DType::kF64 || x == 0 || !std::isfinite(x)) return x;
  if (type == DType::kI64) return std::nearbyint(x);
  const Grid grid = GridOf(type);
  const int exponent = ExponentOf(x);
  if (exponent >= grid.min_exponent && exponent < grid.max_exponent)
    return RoundSignificand(grid, x);
  const int quantum = QuantumExponent(grid, x);
  const double rounded = std::nearbyint(x * PowerOfTwo(-quantum)) * PowerOfTwo(quantum);
  return std::abs(rounded) > MaxFinite(type) ? std::copysign(kInfinity, x) : rounded;
}

bool IsRepresentable(DType type, double x) {
  if (type == DType::kI64) return std::abs(x) <= kLargestInteger && x == std::nearbyint(x);
  return std::isnan(x) || RoundTo(type, x) == x;
}

double UlpOf(DType type, double x) {
  return std::isfinite(x) ? PowerOfTwo(QuantumExponent(GridOf(type), x)) : kInfinity;
}

double RoundingError(DType type, double x) {
  x = std::abs(x);
  if (x == 0) return 0;
  // From the last midpoint below 2^(max_exponent+1) on, rounding to nearest overflows.
  if (!(x < MaxFinite(type) + UlpOf(type, MaxFinite(type)) / 2)) return kInfinity;
  // A number below half the smallest subnormal is rounded to 0: it errs by itself.
  const double half = std::max(UlpOf(type, x) / 2, std::numeric_limits<double>::denorm_min());
  return std::min(half, x);  // half the spacing of f64's subnormals is not a double
}

double MaxFinite(DType type) {
  const Grid grid = GridOf(type);
  return (2 - PowerOfTwo(1 - grid.precision)) * PowerOfTwo(grid.max_exponent);
}

double MinSubnormal(DType type) {
  const Grid grid = GridOf(type);
  return PowerOfTwo(grid.min_exponent - (grid.precision - 1));
}

double NextUp(DType type, double x) { return FromOrdinal(type, Ordinal(type, x) + 1); }
double NextDown(DType type, double x) { return FromOrdinal(type, Ordinal(type, x) - 1); }

uint64_t UlpDistance(DType type, double a, double b) {
  const int64_t from = Ordinal(type, a), to = Ordinal(type, b);
  return from < to ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                   : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
}

uint64_t EncodeBits(DType type, double x) {
  if (type == DType::kI64) return static_cast<uint64_t>(static_cast<int64_t>(x));
  if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();
  if (type == DType::kF64) return std::bit_cast<uint64_t>(x);
  if (type == DType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(x));
  if (type == DType::kBF16) return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16;
  const uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | 0x7E00;
  if (std::isinf(x)) return sign | 0x7C00;
  const double magnitude = std::abs(x);
  if (magnitude < 0x1p-14) return sign | static_cast<uint64_t>(std::ldexp(magnitude, 24));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<uint64_t>(std::ldexp(magnitude, 10 - exponent)) - 0x400;
  return sign | static_cast<uint64_t>(exponent + 15) << 10 | fraction;
}

double DecodeBits(DType type, uint64_t bits) {
  switch (type) {
    case DType::kF64:
      return std::bit_cast<double>(bits);
    case DType::kI64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case DType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    case DType::kF16:
      break;
  }
  const double sign = (bits & 0x8000) ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const auto fraction = static_cast<double>(bits & 0x3FF);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 0x1F) {
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace sextant
