// Writes reports as JSON.
#pragma once

#include "reference/base/json.h"
#include "tools/api/judgement.h"
#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// Throws Error.
void WriteJson(const Report& report, OutputFile& file);

// The same keys as for a case of a report, and: recipe strict conforming_recipes defaults text.
Json ToJson(const Judgement& judgement);

}  // namespace sextant::tools
