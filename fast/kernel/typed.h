// Converts a case to arguments of a kernel: the struct of its operation, and tensors as typed
// arrays.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "fast/simd/any_element.h"
#include "reference/case/case.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::fast {

// The struct of the case's operation, which must be Op.
template <class Op>
const Op& StructOf(const Case& c) {
  return dynamic_cast<const TypedOperation<Op>&>(c.operation()).op();
}

inline size_t ExtentOf(const Case& c, const char* letter) {
  return static_cast<size_t>(c.dimensions().at(letter));
}

// The values as elements of type T. They must be exact in T: nothing is rounded.
template <Element T>
std::vector<T> ToElements(const Tensor<double>& tensor) {
  std::vector<T> elements;
  elements.reserve(tensor.data.size());
  for (const double x : tensor.data) elements.push_back(FromDouble<T>(x));
  return elements;
}

// A struct of weights (its Visit: reference/case/operation.h) whose members are vectors: the inputs
// of these names, or part(input) of each, as elements. Those that are absent must be optional.
template <class Named, class Part = std::identity>
Named NamedElements(const Tensors& inputs, const Part& part = {}) {
  Named named{};
  named.Visit([&]<class Member>(const char* name, Member& member) {
    if constexpr (requires { member.has_value(); }) {
      const Tensor<double>* input = FindValues(inputs, name);
      using E = typename Member::value_type::value_type;
      if (input) member = ToElements<E>(part(*input));
    } else {
      member = ToElements<typename Member::value_type>(part(Find(inputs, name).values));
    }
  });
  return named;
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

// The only output of the case, without values.
inline StoredTensors OneOutput(const Case& c) {
  const TensorSpec& spec = c.info().signature.outputs[0];
  StoredTensors outputs;
  outputs.emplace_back(spec.name, c.DTypeOf(spec), c.ShapeOf(spec));
  return outputs;
}

inline Tensor<double> ValuesOf(const StoredTensor& tensor) {
  return TensorReader(tensor).Values().values;
}

// Calls work(first, count) for parts of `rows` rows of `width` elements, on the threads of
// InParallelHere. With one thread, or few elements, there is one part.
template <class Work>
void InRowParts(size_t rows, size_t width, const Work& work) {
  constexpr size_t kLeast = size_t{1} << 18, kMost = 16;
  const size_t wanted = ThreadsHere() == 1 ? 1 : std::min(kMost, rows * width / kLeast);
  const size_t parts = std::clamp<size_t>(wanted, 1, std::max<size_t>(rows, 1));
  InParallelHere(parts, [&](size_t i) {
    const size_t first = i * rows / parts;
    work(first, (i + 1) * rows / parts - first);
  });
}

// Declines a case with a tensor whose dtype differs from the default of its role, apart from codes
// and their scales.
// Returns the reason, or an empty string.
inline std::string DeclinesMixedTypes(const Case& c) {
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side) {
      const bool is_default = c.DTypeOf(tensor) == DTypeOf(tensor.role, c.dtype());
      if (is_default || HasTypesOfCodes(tensor.role)) continue;
      return "no kernel for " + tensor.name + " of another dtype than the case's";
    }
  }
  return "";
}

}  // namespace sextant::fast
