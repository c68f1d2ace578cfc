// A claim with measured frequencies, measured as precisely as the answers allow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/identify/frequency_claims.h"
#include "oracle/identify/misfit.h"

namespace sextant::oracle {

struct MeasuredClaim {
  Claim claim;
  MeasuredTable table;  // with error bars
};

// The rotation of the claim (channels, axes, direction) with the frequencies that the answers show
// if they have the errors of this recipe: smaller errors tell more digits. Empty if they have
// larger ones, or if the operation rotates nothing.
std::optional<MeasuredClaim> MeasuredBy(const std::string& recipe, const Claim& claim,
                                        const std::vector<Exchange>& exchanges, int threads);

}  // namespace sextant::oracle
