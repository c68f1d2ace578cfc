// The options of `sextant check`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/prove/budget.h"
#include "reference/prove/prove.h"
#include "tools/api/completed_line.h"
#include "tools/cli/options.h"

namespace sextant::tools {

struct CheckArguments {
  std::vector<std::string> cases, filters, excluded;
  std::string with, shard, subject, recipe, json, json_lines, junit, html, expect, write_expect;
  ConfigChoice config;
  oracle::SubjectLimits limits;
  double memory = 0;  // MiB; 0: no limit
  ProveOptions prove;
  bool strict = false, open_rows = false, supported_only = false;
  bool fail_fast = false, verbose = false, sampled_is_enough = false, verify = false;
  double budget_seconds = 0;  // 0: no limit
  Budget budget{};
  std::optional<uint64_t> fresh, adversarial;  // seeds
};

// --expect and the reports of a whole run.
void AddReports(CLI::App& app, CheckArguments& options);
// Returns an ExitStatus.
int Check(const CheckArguments& options);
void AddCheckOptions(CLI::App& app, CheckArguments& options);

}  // namespace sextant::tools
