// The likely causes of a failure.
#pragma once

#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The defects that explain an answer: their predictions are at most half as far from it as the
// recipe's own answer. The nearest come first, then those that are more than twice as far; each
// group is in the order of the catalog. `permitted` are the permitted errors by which the
// answer was judged. Few slices rule out most defects: those where the answer is farthest from the
// recipe's. With a budget (reference/prove/budget.h), defects across slices are not tried.
std::vector<Cause> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                            const std::vector<PermittedTensor>& permitted, const Tensors& answer,
                            const ProveOptions& options = {});

}  // namespace sextant::oracle
