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
bool Contains(DType outer, DType inner);

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

}  // namespace sextant
