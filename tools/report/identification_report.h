// The report of `sextant identify` as text and JSON. tools/report/JSON.md lists its keys.
#pragma once

#include <string>

#include "reference/base/json.h"
#include "tools/api/identification.h"

namespace sextant::tools {

std::string TextOf(const Identification& found);
Json ToJson(const Identification& found);

}  // namespace sextant::tools
