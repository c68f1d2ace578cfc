// What explains measured angles: other positions, other frequencies, another turn, other axes.
#pragma once

#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// The candidates with other positions, other frequencies, or both, that give all angles. Empty if
// there is none, or if the right ones give them.
std::vector<RotaryCandidate> AnglesExplained(const RotaryFit& fit, const RotaryCandidate& start);

// The same with other turns and axes; {start} if it gives all angles.
std::vector<RotaryCandidate> CompletedWithAxes(const RotaryFit& fit, const RotaryCandidate& start);

}  // namespace sextant::oracle
