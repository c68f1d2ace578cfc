// Prints a report as text.
#pragma once

#include "tools/report/report.h"

namespace sextant::tools {

// Prints the case, its details and the command that repeats it; nothing if the case conforms and is
// not unlikely.
void PrintVerdict(const Report& report, const oracle::Verdict& verdict);
void PrintSummary(const Report& report);

}  // namespace sextant::tools
