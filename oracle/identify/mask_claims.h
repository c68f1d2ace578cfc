// The mask of attention, from a question in which all scores are nearly 0: then the answer to a
// query is the mean of the values of its visible keys, whatever scale and cap are.
#pragma once

#include <optional>
#include <vector>

#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// The attributes of the mask that are free in `asked`, as the answer shows them: every query sees
// the keys that it sees there. If several masks agree, the simplest. Empty if the operation has no
// mask, nobody answered the question (ProbesOf), or no mask is possible.
std::optional<Claim> MaskClaim(const Claim& asked, const std::vector<Exchange>& exchanges);

}  // namespace sextant::oracle
