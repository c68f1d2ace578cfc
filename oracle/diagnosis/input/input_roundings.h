// Changes of an input that round its elements: to fewer significant bits, to multiples of a power
// of two, and to the levels of quantized numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

struct Rounding {
  std::string text;  // "rounded to 11 significant bits, as TF32"
  std::function<std::vector<double>(const Tensor<double>& x)> apply;
};

Rounding ToFormat(DType format);  // "rounded to bf16"
// What implementations do: formats of 8 bits (OCP 8-bit Floating Point Specification 1.0) and
// TF32, numbers cut toward zero, numbers of 8 and 4 bits with a scale for all of them, for each
// row, or for each block of a row.
std::vector<Rounding> UsualRoundings();
// Any number of bits, and multiples of 2^-1 to 2^-10.
std::vector<Rounding> RareRoundings();

}  // namespace sextant::oracle
