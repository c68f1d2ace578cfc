// The report of `sextant profile` as JSON, CSV and text. tools/report/JSON.md lists the keys.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tools/api/profile.h"
#include "tools/report/json.h"

namespace sextant::tools {

Json ToJson(const Profile& profile);

// The numbers of a subject: one row per group, or with `by` = "step" per step.
struct ProfileTable {
  struct Column {
    std::string name;  // "key", "elements", "ulps_median"; by step "only_median"
    std::vector<double> values{};
  };
  std::string axis;                           // "position", "step"
  std::vector<std::string> steps{}, rules{};  // of the rows; only by step
  std::vector<Column> columns{};
};
ProfileTable TableOf(const SubjectProfile& subject, const std::string& by);

// One line per subject and row of its table.
void PrintCsv(const Profile& profile, std::ostream& out);

// Errors of all elements, costs of steps, the cheapest recipe, and the worst cases of the search.
void PrintText(const Profile& profile, std::ostream& out);

}  // namespace sextant::tools
