// The recipes by which a failing answer would conform.
#pragma once

#include <string>
#include <vector>

#include "tools/api/judgement.h"

namespace sextant::tools {

// The standard recipes by which the failing answer conforms. Of recipes with the same rules for all
// steps of the operation only the first is named.
std::vector<std::string> ConformingRecipes(const Judgement& judgement,
                                           const std::vector<GoldenTensor>& golden,
                                           const ProveOptions& options);

}  // namespace sextant::tools
