// Writes a report as JSON.
#pragma once

#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// Throws Error.
void WriteJson(const Report& report, OutputFile& file);

}  // namespace sextant::tools
