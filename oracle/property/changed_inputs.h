// Attributes and inputs of a case by name, and changed copies of them.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "reference/case/case.h"

namespace sextant::oracle {

// The printed value of an attribute; empty if the operation has no such attribute.
std::string TextOf(const Case& c, const std::string& attribute);
// The value of a numeric attribute; `otherwise` if it is not set or does not exist.
double NumberOf(const Case& c, const std::string& attribute, double otherwise);
size_t ExtentOf(const Case& c, const std::string& letter);

// The case with a numeric attribute multiplied by `factor`; `otherwise` is its value if not set.
Case Multiplied(const Case& c, const std::string& attribute, double factor, double otherwise = 0);

bool HasInput(const Tensors& inputs, const std::string& name);
// The values of the input of that name. Throws Error if there is none.
Tensor<double>& InputNamed(Tensors& inputs, const std::string& name);
const Tensor<double>& InputNamed(const Tensors& inputs, const std::string& name);
Tensor<double> Times(const Tensor<double>& tensor, double factor);

// Copies of the inputs in which the named inputs are changed: multiplied by `factor` (exact for a
// power of two), filled with one value, or with `change` applied to every element.
using Names = std::initializer_list<const char*>;
Tensors Multiplied(Tensors inputs, Names names, double factor);
Tensors Filled(Tensors inputs, Names names, double value);
// A bias of 0, where there is one.
inline Tensors WithoutBias(const Tensors& inputs) {
  return HasInput(inputs, "bias") ? Filled(inputs, {"bias"}, 0) : inputs;
}
Tensors Mapped(Tensors inputs, const std::string& name,
               const std::function<double(double)>& change);

// Reverses the order of the blocks of `width` elements in each of `rows` rows.
void ReverseBlocks(Tensor<double>& tensor, size_t rows, size_t width);

}  // namespace sextant::oracle
