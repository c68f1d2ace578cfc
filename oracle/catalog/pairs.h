// Two deviations at once: neither of them explains the answer alone.
#pragma once

#include <vector>

#include "oracle/diagnosis/evidence.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The listed defects that predict some of the failing elements are applied first, one after the
// other; then all listed defects, and the operation's measurements, are asked about the rest. Two
// causes for each pair that explains the whole answer, each naming the other. Defects with a
// formula of their own, and those across slices, are not the first of a pair. For small cases: many
// hypotheses copy the inputs.
std::vector<Cause> PairCauses(const Observation& seen, Evidence& evidence,
                              const ProveOptions& options);

}  // namespace sextant::oracle
