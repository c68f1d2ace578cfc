// Judges large answers slice by slice: the enclosures of a slice are compared with the answer and
// forgotten, so that they need little memory, which stays in the cache.
#pragma once

#include <optional>

#include "oracle/judge/judge.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::oracle {

// False if the case is small, has several outputs or is not to be judged by enclosures.
bool CanJudgeInSlices(const Case& c, const ProveOptions& options);

// The verdict of Judge(c, inputs, recipe, options).Evaluate(outputs), within the budget of this
// thread. Empty if it cannot be given,
// or needs reference values of the whole case: if the answer does not fit the case, fails or is
// unlikely.
std::optional<Verdict> JudgeInSlices(const Case& c, const TensorReaders& inputs,
                                     const Recipe& recipe, const ProveOptions& options,
                                     const TensorReaders& outputs);

}  // namespace sextant::oracle
