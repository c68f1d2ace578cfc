// The errors of an answer, element by element.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::tools {

// The errors of one answered output, with its shape.
struct ElementErrors {
  std::string name;
  Tensor<double> error;      // |answer - exact|; NaN where no value is specified, or left out
  Tensor<double> permitted;  // infinite where no answer could fail; NaN where left out
};

// One for each output that was answered, in the order of the signature. `outputs` fit the case.
std::vector<ElementErrors> ErrorsOf(const oracle::Judge& judge, const Tensors& outputs);

}  // namespace sextant::tools
