// TF32, the format in which tensor cores read the factors of a product of f32 matrices: 11 bits of
// the significand and the exponents of f32. The products are added in f32.
//   tf32            rounded to nearest, ties away from 0, by cvt.rna.tf32.f32 or a library: the
//                   error is at most half an ulp of TF32, 2^-11 of the number, for any rule of ties
//   tf32_truncated  f32 as it is, of which the tensor core reads the upper 19 bits: the error is
//                   less than an ulp of TF32, 2^-10 of the number; rounded factors have less, too
// Below 2^-126 the ulp is 2^-136, as subnormal numbers of f32 lose their lower 13 bits likewise.
// Source: NVIDIA, PTX ISA, "cvt" and "Alternate floating-point data formats"; Fasi, Higham,
// Mikaitis and Pranesh 2021, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
// 7:e330.
#pragma once

#include "reference/number/recipe/recipe.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

inline constexpr int kTf32Bits = 11;  // of the significand, the hidden one included

// True if every number of the format is a number of TF32.
constexpr bool IsWithinTf32(DType format) {
  return format != DType::kI64 && GridOf(format).precision <= kTf32Bits;
}

// x, a value of f32, as the factors of a product are read.
double FactorOf(Factors factors, double x);

// The largest error of FactorOf for numbers of at most this magnitude; infinite if it overflows.
double FactorError(Factors factors, double most);
// The same relative to the number, without underflow: 2^-11 or 2^-10.
double RelativeFactorError(Factors factors);

}  // namespace sextant
