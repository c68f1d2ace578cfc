// The report of `sextant profile` as JSON, CSV and text. tools/README.md describes the keys.
#pragma once

#include <ostream>

#include "tools/api/profile.h"
#include "tools/report/json.h"

namespace sextant::tools {

Json ToJson(const Profile& profile);

// One line per subject and group, or with `by` = "step" per subject and step.
void PrintCsv(const Profile& profile, std::ostream& out);

// Errors of all elements, costs of steps, the cheapest recipe, and the worst cases of the search.
void PrintText(const Profile& profile, std::ostream& out);

}  // namespace sextant::tools
