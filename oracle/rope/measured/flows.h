// Other sums of the right channels: signs, missing terms, sums in place, heads that turn backwards.
#pragma once

#include <vector>

#include "oracle/rope/measured/layout.h"

namespace sextant::oracle {

// The right channels with other sums (Flow), for which every pair is rotated: those with the fewest
// changes, which may be several. Empty if there is none.
std::vector<Layout> PossibleFlows(const RotaryModel& right, int64_t R, const RotaryRows& rows,
                                  RotationErrors& errors);

}  // namespace sextant::oracle
