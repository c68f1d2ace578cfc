// A report as text, for people.
#pragma once

#include "tools/report/report.h"

namespace sextant::tools {

// One line, and for what did not conform the command that repeats it.
void PrintVerdict(const Report& report, const oracle::Verdict& verdict);
void PrintSummary(const Report& report);

}  // namespace sextant::tools
