// Where the elements of an output fail: the values of its axes (axes.h) at which at least one
// element fails.
#pragma once

#include <vector>

#include "oracle/judge/axes.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// `fails` has one value per element; at least one is true.
// A range contains only values that exist: positions 0, 40 and 50 of which 40 and 50 fail have the
// range 40 to 50.
std::vector<FailingIndices> FailingIndicesOf(const OutputOf& of, const std::vector<bool>& fails);

}  // namespace sextant::oracle
