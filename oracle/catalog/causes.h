// The likely causes of a failure.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The defects that explain an answer: their predictions are at most half as far from it as the
// recipe's own answer. The nearest come first, then those that are more than twice as far; each
// group is in the order of the catalog. If there is none, the explanations of the operation's
// measurements whose models do. Few slices rule out most of them: those where the answer is
// farthest from the recipe's. With a budget (reference/prove/budget.h), defects across slices are
// not tried.
std::vector<Cause> CausesOf(const Observation& seen, const ProveOptions& options = {});

}  // namespace sextant::oracle
