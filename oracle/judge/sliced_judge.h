// Judges large answers slice by slice: the reference values of a slice are compared with the answer
// and forgotten, so that they need little memory, which stays in the cache. What remains is a byte
// for each row, and a bit for each element if one fails.
#pragma once

#include <optional>

#include "oracle/judge/judge.h"
#include "reference/number/tensor/stored_tensor.h"
#include "reference/prove/golden_source.h"

namespace sextant::oracle {

// False if the case is small, is a composite operation, cannot be cut, or is not to be judged by
// the ladder.
bool CanJudgeInSlices(const Case& c, const ProveOptions& options);

// What to do with an answer that fails or is unlikely: give up, because whoever asks judges the
// whole case then, or judge all of it.
enum class Failing { kGiveUp, kJudge };

// The verdict of Judge(c, inputs, recipe, options).Evaluate(outputs), within the budget of this
// thread. Empty if it cannot be given: if the answer does not fit the case, has outputs that are
// traced, or for `failing`. With kJudge the numbers of elements that are unlikely, and means of
// elements, may differ from those of Evaluate, and places are not described by the values of
// inputs. `golden`: stored values of the case. All values are enclosed or proven here, as without
// it, and it throws Error if a stored one is another.
std::optional<Verdict> JudgeInSlices(const Case& c, const TensorReaders& inputs,
                                     const Recipe& recipe, const ProveOptions& options,
                                     const TensorReaders& outputs,
                                     Failing failing = Failing::kGiveUp,
                                     const GoldenSource* golden = nullptr);

}  // namespace sextant::oracle
