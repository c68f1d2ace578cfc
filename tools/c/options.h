// The options of the C library.
#pragma once

#include "tools/api/judgement.h"
#include "tools/c/sextant.h"

namespace sextant::tools {

// Thrown by a progress callback that cancels.
struct Cancelled {};

// The caller's options. An older caller has fewer members, which are 0; members that only a newer
// caller has must be 0. Throws Error. `given` may be null.
SextantOptions OptionsOf(const SextantOptions* given);

JudgeOptions JudgeOptionsOf(const SextantOptions& given);

// Keeps the tensors of a failing answer where the caller or the environment says so, and says how
// to repeat the judgement.
void Keep(const SextantOptions& options, Judgement& judgement);

}  // namespace sextant::tools
