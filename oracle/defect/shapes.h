// Whether inputs have the shapes of a case, and on what these shapes depend.
#pragma once

#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// True if the inputs have the shapes that the case declares.
bool HasShapes(const Case& c, const Tensors& inputs);

// True if the extent of one of the tensors depends on the dimension or attribute of that name.
bool DependOn(const std::vector<TensorSpec>& tensors, const std::string& name);

}  // namespace sextant::oracle
