// Pairs that turn by the positions of another axis than theirs.
#pragma once

#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// The candidates with other axes that give all angles. {start} if the right axes give them, or if
// some pair turns by no axis.
std::vector<RotaryCandidate> WithMeasuredAxes(const RotaryFit& fit, const RotaryCandidate& start);

// Candidates with axes that are simple functions of the right ones or of the pair, for answers with
// other deviations beside. Empty for one axis.
std::vector<RotaryCandidate> WithSimpleAxes(const RotaryCandidate& start);

}  // namespace sextant::oracle
