// A report in JUnit's XML, for continuous integration. It is green if and only if the exit status
// of `check` is 0.
#pragma once

#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// A test case for each case: <failure> if it does not conform, <error> if the subject could not be
// run, <skipped> if nothing was verified. A subject that misbehaved after its last answer adds one
// with <error>. Throws Error.
void WriteJunit(const Report& report, OutputFile& file);

}  // namespace sextant::tools
