// Claims near which the configuration of measured rotary frequencies is looked for.
#pragma once

#include <vector>

#include "oracle/identify/frequency_claims.h"

namespace sextant::oracle {

// `free`, and with every known scaling, with the bases, the factor and the amplitude that single
// frequencies give, and with contexts of released models. `c`: a question of rope_frequencies.
std::vector<Claim> FrequencyStarts(const MeasuredTable& table, const Claim& free, const Case& c);

// The claim with other limits of the ramp of yarn that somebody may have chosen, the usual ones
// first: contexts that are powers of two, and rotations of one or two digits. Truncated limits are
// whole pairs, so that a fit does not find them. None for another scaling.
std::vector<Claim> WithPlainRamps(const Claim& claim);

}  // namespace sextant::oracle
