// The element types of tensors, and the arithmetic of their grids: rounding, ulps, neighbours.
// Every value of every type is exactly a double: values are stored as double, next to a DType.
// One table, kDTypeRows, says all there is to know about a type. A new type: ADDING.md.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

enum class DType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3FN,
  kF8E5M2,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kF4E2M1,
  kI8,
  kI4,
  kE8M0,
  kI64
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// 2^53: up to here every integer is a double; positions are refused beyond.
inline constexpr int64_t kLargestInteger = int64_t{1} << 53;

// The types that a case (dtype=) or the step of a recipe may have.
inline constexpr DType kFloatTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16};

// The parameters of a binary floating-point format. Integers are subnormal numbers: those of i8 are
// 1 apart. Not for i64.
struct Grid {
  int precision;     // significand bits, the hidden one included
  int min_exponent;  // of the smallest normal number, 2^min_exponent
  int max_exponent;  // of the largest binade
};

// The bit patterns. In the first four: the sign, the exponent with a bias, the fraction.
enum class Patterns {
  kIeee,     // all bits of the exponent are 1: an infinity if the fraction is 0, else a NaN
  kFn,       // no infinity; NaN has all bits but the sign 1
  kFnuz,     // no infinity and no -0, whose pattern is the only NaN
  kFinite,   // no infinity and no NaN
  kInteger,  // two's complement: no infinity, no NaN, no -0
  kPower     // the exponent with a bias alone: no sign, no 0, no infinity; NaN has all bits 1
};

// The type of a dataset in HDF5. Where it is not the type itself, an attribute names the type.
enum class InHdf5 { kItself, kF32, kBits };  // kBits: the bit patterns as u8

struct DTypeRow {
  std::string_view name;
  int bits;
  Grid grid;
  double max_finite;
  Patterns patterns;
  std::string_view safetensors;
  std::string_view arrays;  // in numpy with ml_dtypes, and in torch
  InHdf5 hdf5;
  int dlpack;  // DLDataTypeCode
  int onnx;    // TensorProto.DataType
};

// In the order of the enumerators.
// Sources. f64 f32 f16: IEEE 754-2019, table 3.5 (binary64, binary32, binary16). bf16: binary32
// with 8 significand bits. f8_e4m3fn f8_e5m2: OCP 8-bit Floating Point Specification (OFP8) 1.0;
// Micikevicius et al. 2022, arXiv:2209.05433, table 1. f8_e4m3fnuz f8_e5m2fnuz: Noune et al. 2022,
// arXiv:2206.02915. All four: ONNX, "Float stored in 8 bits". f4_e2m1 e8m0: OCP Microscaling
// Formats (MX) 1.0, 5.3.3 and 5.4.1. Names in safetensors: its enum Dtype; it has only pairs of 4
// bits in a byte, so I4 and F4_E2M1 are names of ours. DLPack: dlpack.h 1.1. ONNX: onnx.proto. i64
// holds positions, up to kLargestInteger in magnitude. An element of 4 bits has a byte, the low
// bits of it.
// clang-format off
inline constexpr auto kDTypeRows = [] {
  using enum Patterns;
  using enum InHdf5;
  return std::to_array<DTypeRow>({
   {"f64",  64, {53, -1022, 1023}, 0x1.fffffffffffffp1023, kIeee, "F64", "float64", kItself, 2, 11},
   {"f32",  32, {24, -126, 127}, 0x1.fffffep127, kIeee, "F32",  "float32",  kItself, 2, 1},
   {"f16",  16, {11, -14, 15},   65504,          kIeee, "F16",  "float16",  kItself, 2, 10},
   {"bf16", 16, {8, -126, 127},  0x1.fep127,     kIeee, "BF16", "bfloat16", kF32,    4, 16},
   {"f8_e4m3fn",   8, {4, -6, 8},   448,   kFn,   "F8_E4M3",     "float8_e4m3fn",   kBits, 10, 17},
   {"f8_e5m2",     8, {3, -14, 15}, 57344, kIeee, "F8_E5M2",     "float8_e5m2",     kBits, 12, 19},
   {"f8_e4m3fnuz", 8, {4, -7, 7},   240,   kFnuz, "F8_E4M3FNUZ", "float8_e4m3fnuz", kBits, 11, 18},
   {"f8_e5m2fnuz", 8, {3, -15, 15}, 57344, kFnuz, "F8_E5M2FNUZ", "float8_e5m2fnuz", kBits, 13, 20},
   {"f4_e2m1", 4, {2, 0, 2},       6,       kFinite,  "F4_E2M1", "float4_e2m1fn",  kBits,   17, 23},
   {"i8",      8, {8, 7, 7},       127,     kInteger, "I8",      "int8",           kItself, 0, 3},
   {"i4",      4, {4, 3, 3},       7,       kInteger, "I4",      "int4",           kBits,   0, 22},
   {"e8m0",    8, {1, -127, 127},  0x1p127, kPower,   "F8_E8M0", "float8_e8m0fnu", kBits,   14, 24},
   {"i64", 64, {}, kLargestInteger, kInteger, "I64", "int64", kItself, 0, 7}});
}();
// clang-format on

constexpr const DTypeRow& RowOf(DType type) { return kDTypeRows[static_cast<size_t>(type)]; }

// All types, in the order of their rows.
inline constexpr auto kDTypes = [] {
  std::array<DType, kDTypeRows.size()> types{};
  for (size_t i = 0; i < types.size(); ++i) types[i] = static_cast<DType>(i);
  return types;
}();
// The types that a tensor of floating-point numbers may have (dtype.NAME=), those that codes may
// have, both, and those of the scales of codes.
constexpr auto TypesIn(DType first, DType end) {
  return std::span(kDTypes).subspan(static_cast<size_t>(first),
                                    static_cast<size_t>(end) - static_cast<size_t>(first));
}
inline constexpr std::span kTensorTypes = TypesIn(DType::kF64, DType::kF4E2M1);
inline constexpr std::span kCodeTypes = TypesIn(DType::kF8E4M3FN, DType::kE8M0);
inline constexpr std::span kOperandTypes = TypesIn(DType::kF64, DType::kE8M0);
inline constexpr DType kScaleTypes[] = {DType::kF64,  DType::kF32,      DType::kF16,
                                        DType::kBF16, DType::kF8E4M3FN, DType::kE8M0};
static_assert(kDTypes.back() == DType::kI64);

constexpr Grid GridOf(DType type) { return RowOf(type).grid; }
constexpr double MaxFinite(DType type) { return RowOf(type).max_finite; }
// The number farthest below 0; of e8m0 the smallest one.
constexpr double Lowest(DType type) {
  if (RowOf(type).patterns == Patterns::kInteger && type != DType::kI64)
    return -MaxFinite(type) - 1;
  return RowOf(type).patterns == Patterns::kPower ? 1 / MaxFinite(type) : -MaxFinite(type);
}
constexpr bool HasInfinity(DType type) { return RowOf(type).patterns == Patterns::kIeee; }
constexpr bool HasNaN(DType type) {
  return RowOf(type).patterns != Patterns::kFinite && RowOf(type).patterns != Patterns::kInteger;
}
constexpr size_t SizeOf(DType type) {  // bytes
  return (static_cast<size_t>(RowOf(type).bits) + 7) / 8;
}
constexpr std::string_view NameOf(DType type) { return RowOf(type).name; }
DType ParseDType(std::string_view name);  // throws Error with the list of types

// True if every value of `inner` is a value of `outer`; -0 counts as 0.
constexpr bool Contains(DType outer, DType inner) {
  if (outer == inner) return true;
  if (inner == DType::kI64) return outer == DType::kF64;
  if (outer == DType::kI64) return RowOf(inner).patterns == Patterns::kInteger;
  const Grid o = GridOf(outer), i = GridOf(inner);
  return o.precision >= i.precision &&
         o.min_exponent - o.precision <= i.min_exponent - i.precision &&
         MaxFinite(outer) >= MaxFinite(inner) && Lowest(outer) <= Lowest(inner) &&
         (HasInfinity(outer) || !HasInfinity(inner)) && (HasNaN(outer) || !HasNaN(inner));
}

// The value of `type` nearest to x, ties to even, as IEEE 754 does: beyond the largest finite value
// infinity, or NaN in a type without infinities. To e8m0 only of numbers above 0.
double RoundTo(DType type, double x);

// True if x is a value of `type`: NaN, infinities and -0 are if the type has them.
bool IsRepresentable(DType type, double x);

// Distance between neighbouring values of `type` in the binade of |x|, in units of x. Below the
// smallest normal number: the spacing of subnormals.
double UlpOf(DType type, double x);

// Upper bound of the error of rounding to nearest any real number r with |r| <= |x|. Some r attains
// it unless |x| lies below the first midpoint of its binade. Infinite if rounding |x| overflows.
double RoundingError(DType type, double x);

double MinSubnormal(DType type);

// The next larger and the next smaller value of `type`: beyond the largest finite value infinity,
// or NaN in a type without infinities. x must be a value of `type`.
double NextUp(DType type, double x);
double NextDown(DType type, double x);

// Number of steps between neighbouring values of `type` from a to b: 0 if equal, 1 for neighbours.
// +0 and -0 coincide. Both must be finite values of `type`.
uint64_t UlpDistance(DType type, double a, double b);

// The bit pattern of x in `type` (in the low SizeOf(type) bytes), and the inverse. x must be a
// value of `type`. A NaN keeps its sign and as much of its payload as the type has, as in the
// processor's conversions: so a signaling NaN becomes quiet. A type without NaN has the pattern 0
// in its place: an element without a value. Of an element of 4 bits only these are read.
uint64_t EncodeBits(DType type, double x);
double DecodeBits(DType type, uint64_t bits);

// Calls use(bits) with an unsigned integer of the size of an element.
template <class Use>
auto WithBitsOf(DType type, const Use& use) {
  switch (SizeOf(type)) {
    case 1:
      return use(uint8_t{});
    case 2:
      return use(uint16_t{});
    case 4:
      return use(uint32_t{});
    case 8:
      return use(uint64_t{});
  }
  std::abort();
}

// 2^exponent, from the smallest subnormal to the largest power.
inline double PowerOfTwo(int exponent) {
  return exponent >= -1022 ? std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52)
                           : std::ldexp(1.0, exponent);
}

// floor(log2 |x|) of a normal number; -1023 for 0 and subnormal numbers, 1024 for NaN and infinity.
inline int ExponentOf(double x) {
  return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
}

// RoundTo for a number that is not normal in the format, or in its largest binade or beyond.
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
  const double rounded = RoundTo(type, x);
  if (std::isnan(x)) return HasNaN(type);
  return rounded == x && (x != 0 || std::signbit(rounded) == std::signbit(x)) &&
         (x >= Lowest(type) || std::isinf(x));
}

// The exponent field of a double suffices: no grid has a smaller min_exponent than f64, -1022.
inline double UlpOf(DType type, double x) {
  const Grid grid = GridOf(type);
  const int exponent = std::max(ExponentOf(x), grid.min_exponent) - (grid.precision - 1);
  return std::isfinite(x) ? PowerOfTwo(exponent) : kInfinity;
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
