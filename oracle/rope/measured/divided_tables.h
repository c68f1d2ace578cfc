// Rotations in which one table (cos or sin), or the sums of one channel of each pair, are computed
// otherwise than the rest.
#pragma once

#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// The candidates in which cos, or sin, has other frequencies or positions than the other table.
// `fit`: of both, which no candidate explains.
std::vector<RotaryCandidate> WithOtherTable(const RotaryFit& fit, const RotaryCandidate& start);

// The same of the sums that give the first channels of all pairs, or the second ones.
std::vector<RotaryCandidate> WithOtherSum(const RotaryQuestion& question,
                                          const RotaryCandidate& start);

}  // namespace sextant::oracle
