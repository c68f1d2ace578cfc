// Answers with their order undone: a wrong order beside another deviation. Then no number is the
// right one at any place, so that moved_numbers.h finds nothing.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

struct Undone {
  std::string sentence;                    // "y is stored as if its axes 1 and 2 were exchanged"
  Tensors answer;                          // as it would be in the right order
  std::vector<PermittedTensor> permitted;  // NaN where the order leaves no number
};

// Of answers with one output. If all indices of an axis have the same numbers, only that is undone;
// else the usual wrong orders, each alone.
std::vector<Undone> UndoneOrdersOf(const Observation& seen);

}  // namespace sextant::oracle
