// Names for a wrong growth: a factor that grows with the position, by pair.
#pragma once

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// A candidate whose angles are explained, with every growth that gives all gains, and its name if
// it is not the right one.
std::vector<RotaryCandidate> WithGrowth(const RotaryFit& fit, const RotaryCandidate& candidate);

}  // namespace sextant::oracle
