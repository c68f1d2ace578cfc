// A golden: the proven values of one case. A record: one case of a file.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "reference/number/rounded/choice.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The proven values of one output tensor. All five tensors have the output's shape.
// Let x be the exact value of an element.
//   value      x rounded once to `dtype` (to nearest, ties to even); of a chosen output, its choice
//   high, low  two doubles whose sum has 73 bits of x: high = RN64(x), and low is x - high rounded
//              to a multiple of 2^-20 ulp(high), or of the smallest double (UnitOfLow, interval.h)
//   permitted  upper bound of |answer - (high + low)| for every implementation of the recipe, and
//              of |answer - x|
//   radius     0: value, high and low are proven. Finite: x lies within `radius` of high.
//              Infinite: x could not be enclosed; then permitted is infinite, too. NaN: a budget
//              leaves the element out; then all numbers are NaN
// An element that depends on a NaN or an infinity among the inputs is unspecified: value, high and
// permitted are NaN, and radius is 0. With keeps_nonfinite it is
// judged all the same: an answer that is a finite number fails.
// Codes, and scales that are powers of two, are chosen: x is the number that decides, before its
// last rounding, and an answer conforms if and only if it is the choice for a number that the
// recipe permits there: for one within PermittedTensor::before_rounding of x.
// An index (Role::kChoice) is judged by the outputs that were answered (Intermediate): then x is
// the answered index plus the excess, by how much the best number that was left out exceeds the
// number of this index; permitted is the error of that difference. Without an answer x is the
// index.
// If the operation defines what an output stores (Stored, operation.h), every element is specified:
// value and high are that number, which may be NaN, an infinity or -0; low, permitted and radius
// are 0; and no other answer conforms. All NaNs count as one.
struct GoldenTensor {
  std::string name;
  DType dtype = DType::kF32;
  Tensor<double> value, high, low, permitted, radius;
  // Whoever reads it from a file takes these from the operation.
  bool bitwise = false;
  Choice choice = Choice::kNone;
  bool keeps_nonfinite = false;
};

inline bool IsUnspecified(const GoldenTensor& golden, size_t i) {
  return !golden.bitwise && std::isnan(golden.high.data[i]);
}

// One case of a file. A golden file has inputs and golden. A file of questions has only inputs. A
// file of answers has outputs; inputs in it are compared with those of the question.
struct Record {
  std::string case_line;  // canonical text of the case
  Tensors inputs;
  std::vector<GoldenTensor> golden;
  Tensors outputs;
};

}  // namespace sextant
