// From a case to what a kernel takes: its operation's struct, and tensors as narrow arrays.
#pragma once

#include <string>
#include <vector>

#include "fast/simd/any_element.h"
#include "reference/case/case.h"

namespace sextant::fast {

// The struct of the case's operation, which must be Op.
template <class Op>
const Op& StructOf(const Case& c) {
  return dynamic_cast<const TypedOperation<Op>&>(c.operation()).op();
}

inline size_t ExtentOf(const Case& c, const char* letter) {
  return static_cast<size_t>(c.dimensions().at(letter));
}

// Elements as they lie in a user's memory. The values must be values of T: nothing is rounded.
template <Element T>
std::vector<T> ToElements(const Tensor<double>& tensor) {
  std::vector<T> elements;
  elements.reserve(tensor.data.size());
  for (const double x : tensor.data) elements.push_back(FromDouble<T>(x));
  return elements;
}

inline std::vector<int64_t> ToIntegers(const Tensor<double>& tensor) {
  return {tensor.data.begin(), tensor.data.end()};
}

template <Element T>
NamedTensor ToTensor(std::string name, Shape shape, const std::vector<T>& elements) {
  NamedTensor tensor{std::move(name), kDType<T>, Tensor<double>(std::move(shape))};
  for (size_t i = 0; i < elements.size(); ++i) tensor.values.data[i] = ToDouble(elements[i]);
  return tensor;
}

// Why a case whose tensors have other dtypes than their roles say is not for a kernel; empty if
// they have none.
inline std::string DeclinesMixedTypes(const Case& c) {
  for (const auto* side : {&c.info().signature.inputs, &c.info().signature.outputs}) {
    for (const TensorSpec& tensor : *side) {
      if (c.DTypeOf(tensor) == DTypeOf(tensor.role, c.dtype())) continue;
      return "no kernel for " + tensor.name + " of another dtype than the case's";
    }
  }
  return "";
}

}  // namespace sextant::fast
