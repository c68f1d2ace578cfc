// The named distributions of inputs. reference/case/draw.h describes each one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// A distribution such as "uniform(-1,2)", for the elements of one input.
class Distribution {
 public:
  // Throws Error if there is no such distribution, if it does not accept the arguments, or if it
  // cannot draw values of the dtype.
  Distribution(const std::string& spec, const std::string& input, DType dtype);

  // Fills the tensor with values of the dtype. Throws Error if one exceeds the largest finite
  // number.
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

// Parses a number of a spec. Throws Error if it is an integer that is not exactly a double.
double ParseNumber(const std::string& text);

}  // namespace sextant
