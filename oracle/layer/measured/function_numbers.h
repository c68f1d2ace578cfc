// Functions of which several numbers deviate at once: a f_c(x) + b.
#pragma once

#include <vector>

#include "oracle/layer/measured/function.h"

namespace sextant::oracle {

// y = weight a f_c(x) + b, within the error of each pair.
struct NumbersFit {
  Function function;  // with the factor a
  double added = 0;   // b, which is not multiplied by the weight
  Deviations deviations;
};
// The curves with a constant, a factor and an added number that fit all pairs, if two of the three
// (or the curve and one) deviate from `right`. For fixed c the others are those of least squares.
std::vector<NumbersFit> FitNumbers(const std::vector<Pair>& pairs, const Function& right);

}  // namespace sextant::oracle
