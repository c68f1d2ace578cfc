// Judges large answers slice by slice: the enclosures of a slice are compared with the answer and
// forgotten, so that they need little memory, which stays in the cache.
#pragma once

#include <optional>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The verdict of Judge(c, inputs, recipe, options).Evaluate(outputs). Empty if it needs reference
// values of the whole case: if the answer fails or is unlikely, if the case is small, has several
// outputs or is not to be judged by enclosures, or if a budget limits this thread.
std::optional<Verdict> JudgeInSlices(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                     const ProveOptions& options, const Tensors& outputs);

}  // namespace sextant::oracle
