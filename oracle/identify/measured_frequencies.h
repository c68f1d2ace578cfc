// The list of measured frequencies as a scaling, where no known form gives them.
#pragma once

#include <string>
#include <vector>

#include "oracle/identify/frequency_claims.h"
#include "oracle/identify/misfit.h"
#include "oracle/rope/measured/rows.h"

namespace sextant::oracle {

// True if the claim has the frequencies as measured numbers, so that it always fits.
bool IsMeasured(const Claim& claim);

// "explicit(inv_freq=[...])" with the numbers of the table.
std::string ExplicitText(const MeasuredTable& table);

// The claim with frequencies within the error bars of the table at which the largest difference of
// each pair from the answers, in errors that `recipe` permits, is least; with few digits where that
// costs little. A pair is measured by all its elements together, and single ones may say more.
// `pairs`: the channels of the answer in which they show. Throws Error if the claim is not valid.
Claim WithMeasuredList(const Claim& claim, const MeasuredTable& table,
                       const std::vector<PairOfChannels>& pairs,
                       const std::vector<Exchange>& exchanges, const std::string& recipe,
                       int threads);

}  // namespace sextant::oracle
