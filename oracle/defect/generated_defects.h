// Defects that follow from what an operation declares: its choices, and the numbers in them.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// One defect per attribute and other value of it among the operation's choices: "base=2".
std::vector<Defect> GeneratedDefects(const Operation& operation);

}  // namespace sextant::oracle
