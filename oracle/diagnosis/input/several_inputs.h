// The same change of several inputs at once.
#pragma once

#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// All inputs but integers are rounded: to formats that are narrower than theirs, or to fewer bits.
std::vector<Deviation> AllRounded(const Tensors& inputs);
// k and v, as a cache keeps them, are read in the same wrong order.
std::vector<Deviation> CachesReordered(const Case& c, const Tensors& inputs);

}  // namespace sextant::oracle
