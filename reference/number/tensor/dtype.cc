#include "reference/number/tensor/dtype.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "reference/base/value_text.h"

namespace sextant {
namespace {

constexpr std::string_view kNames[] = {"f64", "f32", "f16", "bf16", "i64"};

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

double RoundExtraordinary(DType type, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double quantum = UlpOf(type, x);
  const double rounded = std::nearbyint(x / quantum) * quantum;
  return std::abs(rounded) > MaxFinite(type) ? std::copysign(kInfinity, x) : rounded;
}

double ExtraordinaryRoundingError(DType type, double x) {
  x = std::abs(x);
  if (x == 0) return 0;
  // From the last midpoint below 2^(max_exponent+1) on, rounding to nearest overflows.
  if (!(x < MaxFinite(type) + UlpOf(type, MaxFinite(type)) / 2)) return kInfinity;
  // A number below half the smallest subnormal is rounded to 0: it errs by itself.
  const double half = std::max(UlpOf(type, x) / 2, std::numeric_limits<double>::denorm_min());
  return std::min(half, x);  // half the spacing of f64's subnormals is not a double
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
