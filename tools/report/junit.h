// Writes a report as JUnit XML, for continuous integration. It has a failure or an error if and
// only if the exit status of `check` is not 0.
#pragma once

#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// One test case per case: <failure> if it does not conform or has another result than expected,
// <error> if the subject could not be run, <skipped> if nothing was verified or if the case does
// not conform as expected. One more test case each for: a subject that could not be started, a
// broken protocol after the last answer (<error>), every stale expectation (<failure>), and an exit
// status that is not 0 for any other reason (<error>: cases were skipped, or there was nothing to
// judge). Throws Error.
void WriteJunit(const Report& report, OutputFile& file);

}  // namespace sextant::tools
