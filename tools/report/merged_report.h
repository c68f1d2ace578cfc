// One report of the reports of all shares of a run (check --shard).
#pragma once

#include <string>
#include <vector>

#include "tools/report/report.h"

namespace sextant::tools {

// The report that the whole run would have given, of the JSON Lines of its shares. Throws Error for
// a file that is no whole report of a share, for shares of other cases, subjects, options or
// programs, and for a share that is absent or there twice.
Report MergedReport(const std::vector<std::string>& paths);

}  // namespace sextant::tools
