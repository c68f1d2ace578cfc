// The element types of tensors, and the arithmetic of their grids: rounding, ulps, neighbours.
// Every value of every type is exactly a double: values are stored as double, next to a DType.
//
//   type   significand bits   exponents of normal numbers   unit roundoff
//   f64          53              -1022 ..  1023               2^-53
//   f32          24               -126 ..   127               2^-24
//   f16          11                -14 ..    15               2^-11
//   bf16          8               -126 ..   127               2^-8
//   i64     integers (positions), up to 2^53 in magnitude; larger ones are refused
// Source: IEEE 754-2019, table 3.5 (binary64, binary32, binary16); bf16 is binary32 with
// 8 significand bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

enum class DType { kF64, kF32, kF16, kBF16, kI64 };

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// 2^53: up to here every integer is a double; positions are refused beyond.
inline constexpr int64_t kLargestInteger = int64_t{1} << 53;

inline constexpr DType kFloatTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16};

// The parameters of a binary floating-point format. Not for i64.
struct Grid {
  int precision;     // significand bits, the hidden one included
  int min_exponent;  // of the smallest normal number, 2^min_exponent
  int max_exponent;  // of the largest binade
};
inline constexpr Grid kGrids[] = {
    {53, -1022, 1023}, {24, -126, 127}, {11, -14, 15}, {8, -126, 127}};
constexpr Grid GridOf(DType type) { return kGrids[static_cast<size_t>(type)]; }

std::string_view NameOf(DType type);      // "f64" "f32" "f16" "bf16" "i64"
DType ParseDType(std::string_view name);  // throws Error with the list of types
size_t SizeOf(DType type);                // bytes of one element

// True if every value of `inner` is a value of `outer`.
constexpr bool Contains(DType outer, DType inner) {
  if (outer == inner) return true;
  if (inner == DType::kI64) return outer == DType::kF64;
  if (outer == DType::kI64) return false;
  const Grid o = GridOf(outer), i = GridOf(inner);
  return o.precision >= i.precision &&
         o.min_exponent - o.precision <= i.min_exponent - i.precision &&
         o.max_exponent >= i.max_exponent;
}

// The value of `type` nearest to x, ties to even; overflows to infinity as IEEE 754 does.
double RoundTo(DType type, double x);

// True if x is a value of `type` (NaN and infinities are, except for i64).
bool IsRepresentable(DType type, double x);

// Distance between neighbouring values of `type` in the binade of |x|, in units of x. Below the
// smallest normal number: the spacing of subnormals.
double UlpOf(DType type, double x);

// Upper bound of the error of rounding to nearest any real number r with |r| <= |x|. Some r attains
// it unless |x| lies below the first midpoint of its binade. Infinite if rounding |x| overflows.
double RoundingError(DType type, double x);

double MaxFinite(DType type);
double MinSubnormal(DType type);

// The next larger and the next smaller value of `type`. x must be a value of `type`.
double NextUp(DType type, double x);
double NextDown(DType type, double x);

// Number of steps between neighbouring values of `type` from a to b: 0 if equal, 1 for neighbours.
// +0 and -0 coincide. Both must be finite values of `type`.
uint64_t UlpDistance(DType type, double a, double b);

// The bit pattern of x in `type` (in the low SizeOf(type) bytes), and the inverse. x must be a
// value of `type`. Every NaN is encoded as the same quiet NaN.
uint64_t EncodeBits(DType type, double x);
double DecodeBits(DType type, uint64_t bits);

// 2^exponent, from the smallest subnormal to the largest power.
inline double PowerOfTwo(int exponent) {
  return exponent >= -1022 ? std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52)
                           : std::ldexp(1.0, exponent);
}

// floor(log2 |x|) of a normal number; -1023 for 0 and subnormal numbers, 1024 for NaN and infinity.
inline int ExponentOf(double x) {
  return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
}

// RoundTo for a number that is not normal in the format.
double RoundExtraordinary(DType type, double x);

inline double RoundTo(DType type, double x) {
  if (type == DType::kF64) return x;
  if (type == DType::kI64) return std::isfinite(x) ? std::nearbyint(x) : x;
  const Grid grid = GridOf(type);
  const int exponent = ExponentOf(x);
  if (!(exponent >= grid.min_exponent && exponent < grid.max_exponent))
    return RoundExtraordinary(type, x);
  // Rounds the significand as an integer; a carry increases the exponent.
  const int dropped = 53 - grid.precision;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t to_even = (uint64_t{1} << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return std::bit_cast<double>((bits + to_even) & (~uint64_t{0} << dropped));
}

inline bool IsRepresentable(DType type, double x) {
  if (type == DType::kI64) return std::abs(x) <= kLargestInteger && x == std::nearbyint(x);
  return std::isnan(x) || RoundTo(type, x) == x;
}

// The exponent field of a double suffices: no grid has a smaller min_exponent than f64, -1022.
inline double UlpOf(DType type, double x) {
  const Grid grid = GridOf(type);
  const int exponent = std::max(ExponentOf(x), grid.min_exponent) - (grid.precision - 1);
  return std::isfinite(x) ? PowerOfTwo(exponent) : kInfinity;
}

inline double MaxFinite(DType type) {
  const Grid grid = GridOf(type);
  return (2 - PowerOfTwo(1 - grid.precision)) * PowerOfTwo(grid.max_exponent);
}

inline double MinSubnormal(DType type) {
  const Grid grid = GridOf(type);
  return PowerOfTwo(grid.min_exponent - (grid.precision - 1));
}

// RoundingError for numbers near 0 and near overflow.
double ExtraordinaryRoundingError(DType type, double x);

inline double RoundingError(DType type, double x) {
  const Grid grid = GridOf(type);
  const int exponent = ExponentOf(x);
  // Half an ulp, which is a normal double and smaller than |x|.
  if (exponent >= grid.min_exponent + grid.precision && exponent < grid.max_exponent)
    return PowerOfTwo(exponent - grid.precision);
  return ExtraordinaryRoundingError(type, x);
}

}  // namespace sextant
