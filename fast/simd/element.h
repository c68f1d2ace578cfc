// Element types of the kernels in memory, and their conversion.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "reference/number/double_double/double_double.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::fast {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

template <class T>
concept Narrow = std::same_as<T, F16> || std::same_as<T, BF16>;
template <class T>
concept Element = Narrow<T> || std::same_as<T, float> || std::same_as<T, double>;

// The type in which a kernel computes. 16-bit elements are widened to f32, and results are rounded
// once at the end.
template <Element T>
using Computed = std::conditional_t<Narrow<T>, float, T>;

template <Element T>
inline constexpr DType kDType = [] {
  if constexpr (std::same_as<T, double>) return DType::kF64;
  if constexpr (std::same_as<T, float>) return DType::kF32;
  if constexpr (std::same_as<T, F16>) return DType::kF16;
  if constexpr (std::same_as<T, BF16>) return DType::kBF16;
}();

// x rounded to T, to nearest, ties to even.
template <Element T>
T FromDouble(double x) {
  if constexpr (Narrow<T>) {
    return {static_cast<uint16_t>(EncodeBits(kDType<T>, RoundTo(kDType<T>, x)))};
  } else {
    return static_cast<T>(x);
  }
}

template <Element T>
double ToDouble(T x) {
  if constexpr (Narrow<T>) {
    return DecodeBits(kDType<T>, x.bits);
  } else {
    return x;
  }
}

// x rounded once to T. Rounding x.high alone would round twice. So an inexact x.high is first
// rounded to odd; an odd number is never halfway between two numbers of a narrower format (Boldo,
// Melquiond 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd", theorem 1).
template <Element T>
T FromDoubleDouble(const DoubleDouble& x) {
  double odd = x.high;
  if (!std::same_as<T, double> && x.low != 0 && EncodeBits(DType::kF64, odd) % 2 == 0) {
    odd = std::nextafter(odd, x.low > 0 ? INFINITY : -INFINITY);
  }
  return FromDouble<T>(odd);
}

}  // namespace sextant::fast
