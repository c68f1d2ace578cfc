// Wrong inputs in the roles of gate and up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// What takes the roles of gate and up.
struct GateLayout {
  std::string name, sentence;  // empty for the right one
  // Element i of what takes the role of gate (0) or up (1). The inputs must outlive it.
  std::function<double(size_t role, size_t i)> number = nullptr;

  Tensors Rearranged(const Tensors& inputs) const;
};

// The right one first.
std::vector<GateLayout> LayoutsOf(const Tensors& inputs);

}  // namespace sextant::oracle
