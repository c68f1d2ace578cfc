// Implementations that the caller of the C library gives it to ask.
#pragma once

#include <cfenv>
#include <cstddef>
#include <string>
#include <vector>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/subject.h"
#include "tools/c/sextant.h"

namespace sextant::tools {

// The subjects, in this order. A function of the caller runs in its floating-point environment, and
// its questions say the attributes `told`. It may decline a question; if it fails, the subject
// throws NoAnswer. Throws Error for null pointers, wrong sizes, unknown and equal names. `given`
// must outlive the subjects.
std::vector<oracle::Subject> SubjectsOf(const SextantImplementation* given, size_t count,
                                        const std::fenv_t& environment,
                                        const oracle::ToldAttributes& told = {});

}  // namespace sextant::tools
