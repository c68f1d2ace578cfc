// What the cases that one implementation supports would miss: `audit-suite --as-supported-by`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "oracle/audit/audit.h"
#include "reference/base/json.h"

namespace sextant::tools {

// The lines of the cases in a JSON report of `check` that were judged, so without unsupported cases
// and cases that could not run. Throws Error that names the file, also if it judged none of
// `cases`.
std::set<std::string> JudgedCasesOf(const std::string& report_path, const std::vector<Case>& cases);

// A defect that some case catches, but no supported one.
struct MissedTarget {
  std::string operation, target, why;
  bool is_goal = false;             // a coverage goal, not a defect
  std::vector<DType> dtypes{};      // the supported dtypes in which it is missed; empty: in all
  std::vector<size_t> caught_by{};  // indices of the cases that catch it there
};

struct SupportedAudit {
  std::vector<size_t> supported;          // indices of the supported cases
  std::vector<std::string> without_case;  // operations of which no case is supported
  std::vector<MissedTarget> missed;       // of the other operations
  size_t defects = 0, goals = 0;          // of the other operations, which some case catches
};
// Only dtypes in which a case of the operation is supported count.
SupportedAudit AuditSupported(const oracle::Audit& audit, const std::vector<Case>& cases,
                              const std::set<std::string>& judged);

void PrintSupported(const SupportedAudit& supported, size_t cases, const std::string& report_path);
Json ToJson(const SupportedAudit& supported);

}  // namespace sextant::tools
