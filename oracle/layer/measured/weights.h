// Deviations of the weights of a feed-forward part: their roles, their layout, their biases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// Inputs with one deviation.
struct Change {
  std::string name, sentence;
  std::function<void(Tensors&)> apply;
};

// Of the roles and the layout of the weights, and of the biases that the inputs have.
std::vector<Change> WeightChanges(const Tensors& inputs);
// Of the order of the hidden columns: as `down` reads them, or of one of gate and up.
std::vector<Change> OrderChanges(const Tensors& inputs);

}  // namespace sextant::oracle
