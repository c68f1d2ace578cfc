// The named distributions that inputs are drawn from (reference/case/draw.h says what each one is).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/number/dtype.h"
#include "reference/number/tensor.h"

namespace sextant {

// "uniform(-1,2)", for the elements of one input.
class Distribution {
 public:
  // Throws Error unless there is such a distribution, it takes these numbers, and its values make
  // sense in the dtype.
  Distribution(const std::string& spec, const std::string& input, DType dtype);

  // Values of the dtype. Throws Error if one is beyond its largest number.
  void Fill(uint64_t seed, Tensor<double>& tensor) const;

 private:
  struct Row;
  static const Row kRows[];
  static std::string Names(bool (*wanted)(const Row&) = nullptr);  // for messages

  const Row* row_;
  std::vector<double> arguments_;
  std::string text_, input_;
  DType dtype_;
};

// A number of a spec. Throws Error if it is an integer that is no double.
double ParseNumber(const std::string& text);

}  // namespace sextant
