// Defects that are generated from the declaration of an operation: from the choices of its
// attributes and the numbers in them.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// One defect per choice of an attribute ("base=2"), and defects of the arguments in choices that
// are calls ("scaling.linear.factor=8").
std::vector<Defect> GeneratedDefects(const Operation& operation);

}  // namespace sextant::oracle
