// Whether inputs have the shapes of a case, and on what these shapes depend.
#pragma once

#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// True if the inputs contain all that the case reads, with the shapes that it declares.
bool HasShapes(const Case& c, const Tensors& inputs);

// True if the extent of one of the tensors depends on the dimension or attribute of that name.
bool DependOn(const Signature& signature, const std::string& name);

// True if the operation reads an optional input that the other one does not read.
bool ReadsMore(const Operation& operation, const Operation& than);

}  // namespace sextant::oracle
