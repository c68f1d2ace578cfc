// HTML pages, written by the program `page` (tools/pages) from a report in JSON.
#pragma once

#include <string>

#include "reference/base/json.h"

namespace sextant::tools {

// The page. Throws Error if the program is neither in `pages` beside this program nor installed, or
// fails, for example because its Python packages are missing.
std::string PageOf(const Json& report);

}  // namespace sextant::tools
