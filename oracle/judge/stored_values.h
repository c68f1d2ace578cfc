// Compares stored values of a golden with proven or enclosed ones.
#pragma once

#include <vector>

#include "reference/prove/golden_source.h"

namespace sextant::oracle {

// `proven`: the values of all outputs in the slice, as Prove or Enclose (prove.h) gives them.
// Throws Error with the first stored value that is another, or lies outside of what encloses the
// value.
void RequireStored(const Case& c, const Slice& slice, const GoldenSource& stored,
                   const std::vector<GoldenTensor>& proven);

}  // namespace sextant::oracle
