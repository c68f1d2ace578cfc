// Writes a report as JUnit XML, for continuous integration. All its tests pass if and only if the
// exit status of `check` is 0.
#pragma once

#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// One test case per case: <failure> if it does not conform, <error> if the subject could not be
// run, <skipped> if nothing was verified. If the subject broke the protocol after its last answer,
// one more test case has an <error>. Throws Error.
void WriteJunit(const Report& report, OutputFile& file);

}  // namespace sextant::tools
