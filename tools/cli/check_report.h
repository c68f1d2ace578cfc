// What `check` and `merge` make of the verdicts of a run.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/check_outputs.h"
#include "tools/report/report.h"

namespace sextant::tools {

// Reads the file of --expect, if there is one. `cases` are those of the run; `unselected` are lines
// of cases that its filters leave out, or that other shards judge.
void ReadExpectations(const std::string& path, const std::vector<Case>& cases,
                      const std::vector<std::string>& unselected, Report& report);

// Completes the report of all verdicts and writes it. Returns the exit status.
int Conclude(const std::vector<std::string>& unselected, CheckOutputs& outputs, Report& report);

// Prints and writes the report of all shards (MergedReport). Returns the exit status.
int ReportMerged(Report report, const CheckArguments& options, CheckOutputs& outputs);

}  // namespace sextant::tools
