// Wrong inputs in the roles of gate and up.
#pragma once

#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// The inputs that take the roles of gate and up.
struct GateLayout {
  std::string name, sentence;  // empty for the right one
  Tensors inputs;
};

// The right ones first. Of a large tensor only exchanged and interleaved halves.
std::vector<GateLayout> LayoutsOf(const Tensors& inputs);

}  // namespace sextant::oracle
