// Changes of an input along one of its axes: other orders of its indices, and parts that are lost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/case/signature.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// One way to change an input, given all inputs.
struct InputChange {
  std::string text;  // "is missing (0)"
  std::function<std::vector<double>(const Tensors& inputs)> apply;
};

// Input `index` read in another order along each axis; and in orders of blocks, or of the memory.
std::vector<InputChange> InputOrders(const TensorSpec& spec, const Shape& shape, size_t index);
std::vector<InputChange> RareInputOrders(const TensorSpec& spec, const Shape& shape, size_t index);
// Input `index` that is 0 at some indices of an axis, or has a neighbour there.
std::vector<InputChange> InputParts(const TensorSpec& spec, const Shape& shape, size_t index);
// Input `index` multiplied by a number at one index of a short axis: "at H 3", and where that is.
struct InputPlace {
  std::string name, text;  // "at_K_1", "at head 1, along K"
  std::function<bool(size_t flat)> has;
};
std::vector<InputPlace> InputPlaces(const TensorSpec& spec, const Shape& shape);

}  // namespace sextant::oracle
