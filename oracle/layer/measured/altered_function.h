// Functions that are altered otherwise than by a constant: a number is added to the argument, the
// value has limits, one side is 0.
#pragma once

#include <vector>

#include "oracle/layer/measured/function.h"

namespace sextant::oracle {

// An alteration that has no number, and what is said of it.
struct NamedAlteration {
  Alteration::Kind kind;
  bool of_gate;  // of g in x g(x)
  const char *name, *sentence;
};
std::vector<NamedAlteration> AlterationsWithoutNumber(Curve right);

// The alterations of `right` that fit all pairs. Those of the gate g of a function x g(x) are
// tried only if it has one.
std::vector<FunctionFit> FitAlterations(const std::vector<Pair>& pairs, const Function& right);

}  // namespace sextant::oracle
