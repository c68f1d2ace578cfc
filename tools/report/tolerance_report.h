// What a tolerance rejects wrongly and lets pass, as text and in JSON.
#pragma once

#include <string>

#include "oracle/tolerance/tolerance.h"
#include "reference/base/json.h"

namespace sextant::tools {

// Several lines. `name`: the case or question; `recipe`: the one by which answers are right.
std::string TextOf(const oracle::ToleranceGrade& grade, const oracle::Tolerance& tolerance,
                   const std::string& name, const std::string& recipe);
Json ToJson(const oracle::ToleranceGrade& grade, const oracle::Tolerance& tolerance,
            const std::string& name, const std::string& recipe);

}  // namespace sextant::tools
