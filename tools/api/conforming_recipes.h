// The recipes by which a failing answer would conform.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::tools {

// The recipes, other than `recipe`, by which the failing answer conforms: standard recipes and
// those of known implementations that differ from all of them. Of recipes with the same rules for
// all steps of the operation only the first is named. `judge` has judged the answer by `recipe`.
std::vector<std::string> ConformingRecipes(const oracle::Judge& judge, const Case& c,
                                           const Tensors& inputs, const Recipe& recipe,
                                           const Tensors& outputs, const ProveOptions& options);

}  // namespace sextant::tools
