// Prints a judgement on a user's own tensors as text: for the command line, and for the message of
// a failed assertion.
#pragma once

#include <string>

#include "tools/api/judgement.h"

namespace sextant::tools {

// At most 15 lines: the verdict and the question, for a failure what fails, what conforms and the
// likely cause, the recipes by which the answer conforms, defaults of dimensions, what was judged,
// and for a failure the command that repeats it.
std::string TextOf(const Judgement& judgement);

// The options of a command that judges again: " --recipe 'f32_compute' --strict".
std::string RepeatOptions(const Judgement& judgement);

}  // namespace sextant::tools
