// A golden: the proven answers of one case, and what one file of them holds.
#pragma once

#include <string>
#include <vector>

#include "reference/number/tensor.h"

namespace sextant {

// The proven values of one output tensor. All five tensors have the output's shape.
//   value      the exact value rounded once to `dtype` (nearest, ties to even)
//   high, low  two doubles whose sum holds about 106 correct bits:
//              high = RN64(x), low = RN64(x - high)
//   permitted  largest |answer - x| that an implementation following the recipe can commit
//   radius     0 where value, high and low are proven; elsewhere half the width of the enclosure
//              around high; infinite where nothing could be enclosed (permitted is so, too)
// Where NaN or an infinity among the inputs reaches an element nothing is specified: value, high
// and permitted are NaN there, and radius is 0.
struct GoldenTensor {
  std::string name;
  DType dtype = DType::kF32;
  Tensor<double> value, high, low, permitted, radius;
};

// One case of a file: a golden file has inputs and golden, a file of questions inputs only, and a
// subject's file outputs (and whatever else it likes, which is ignored).
struct Record {
  std::string case_line;  // canonical text of the case
  Tensors inputs;
  std::vector<GoldenTensor> golden;
  Tensors outputs;
};

}  // namespace sextant
