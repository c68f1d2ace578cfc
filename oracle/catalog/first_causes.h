// Several questions about one answer, of which the first that has causes counts.
#pragma once

#include <functional>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The causes of question i, found by one thread.
using CausesOfQuestion = std::function<std::vector<Cause>(size_t i, const ProveOptions& options)>;

// What `causes_of` gives for the first of the questions 0 .. count - 1 for which it is not empty.
// Asks on options.threads threads in the caller's context and budget, so that some questions after
// that one may be asked in vain.
std::vector<Cause> FirstCauses(size_t count, const ProveOptions& options,
                               const CausesOfQuestion& causes_of);

}  // namespace sextant::oracle
