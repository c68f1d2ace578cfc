// The part of an answer in which it fails, if that is a block of the tensor: one head, the columns
// after the last whole vector. There another formula was computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

struct FailingBlock {
  std::string text;  // "H 3, S 16 to 31"
  // As if a budget left out the elements outside: these are NaN.
  std::vector<PermittedTensor> permitted;
};

// Empty if indices of all axes fail, if most elements of the block conform, or if less than four
// rows fail: all elements of a row may share a rounding, so one row may look like another formula
// by accident.
std::optional<FailingBlock> FailingBlockOf(const Observation& seen);

}  // namespace sextant::oracle
