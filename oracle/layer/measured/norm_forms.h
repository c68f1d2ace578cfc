// Norms of another form than (x - mean) / root * weight + bias: rare ones, which are compared with
// the whole answer, one by one.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// All of them; whoever asked verifies which one explains the answer.
std::vector<Explanation> NormForms(const Observation& seen);

}  // namespace sextant::oracle
